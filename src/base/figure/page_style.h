#pragma once
// The look of a page of figures: light, dark and print. Colours of series: Okabe and Ito's palette, told apart by
// colour-blind readers too, lightened for dark paper; shapes and dashes say the same without colour.

namespace perfcast {

inline constexpr const char* kPageStyle = R"css(
:root{color-scheme:light dark;--paper:#fff;--ink:#1b1f24;--soft:#57606a;--faint:#d0d7de;--band:#f6f8fa;--link:#0b5cad;
--s0:#0072b2;--s1:#c44e00;--s2:#007a5a;--s3:#a8447f;--s4:#8a6d00;--s5:#2a8fc4;--s6:#555;--s7:#6a4fb3}
@media (prefers-color-scheme:dark){:root{--paper:#14171b;--ink:#e6e9ec;--soft:#a3acb6;--faint:#3a424b;--band:#1c2126;
--link:#7cc0ff;--s0:#56b4e9;--s1:#ff9a57;--s2:#3ecf9f;--s3:#e79ac6;--s4:#e6cf3c;--s5:#9ad2f5;--s6:#b9b9b9;--s7:#b7a5f0}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:1080px;padding:24px 20px 60px;background:var(--paper);color:var(--ink);
font:15px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Liberation Sans","DejaVu Sans",sans-serif}
h1{font-size:26px;margin:0 0 4px}h2{font-size:19px;margin:0 0 8px}
.lead{font-size:16px;max-width:76ch}.soft,figcaption{color:var(--soft)}
a{color:var(--link)}
dl{display:grid;grid-template-columns:max-content 1fr;gap:2px 18px;margin:14px 0}
dt{color:var(--soft)}dd{margin:0;overflow-wrap:anywhere}
nav{margin:14px 0;display:flex;flex-wrap:wrap;gap:4px 16px}
.wide{overflow-x:auto}
table{border-collapse:collapse;font-size:12.5px;font-variant-numeric:tabular-nums;margin:6px 0}
th,td{padding:3px 7px;text-align:right;white-space:nowrap;border-bottom:1px solid var(--faint)}
th{vertical-align:bottom;color:var(--soft);font-weight:600}
th.name,td.name{text-align:left}
tr.first td{border-top:2px solid var(--soft)}
tr.baseline td{color:var(--soft)}
caption{text-align:left;font-weight:600;font-size:13.5px;padding:4px 0}
summary{cursor:pointer}
ul.notes{margin:6px 0;padding-left:20px}
section{margin-top:34px}
figure{margin:0}figcaption{max-width:88ch;margin:6px 0 8px;font-size:14px}
figure .wide svg{display:block;width:100%;min-width:720px;height:auto;margin-bottom:10px}
.csv{font-size:13px;border:1px solid var(--faint);border-radius:6px;padding:2px 10px;text-decoration:none;
display:inline-block}
.empty{border:1px dashed var(--faint);border-radius:6px;padding:14px}
svg text{font:11px system-ui,-apple-system,"Segoe UI",Roboto,"Liberation Sans","DejaVu Sans",sans-serif;fill:var(--ink)}
svg .tick{fill:var(--soft)}svg .label{font-size:12px;fill:var(--soft)}svg .row{font-size:10.5px}
svg .legend,svg .series{font-size:12px}svg .panel{font-size:12.5px;font-weight:600}
svg .grid{stroke:var(--faint);stroke-width:.7}svg .axis{stroke:var(--soft)}
svg .rule{stroke:var(--soft);stroke-width:1.1;stroke-dasharray:5 4}
svg .band{fill:var(--band)}
.s0{--c:var(--s0)}.s1{--c:var(--s1)}.s2{--c:var(--s2)}.s3{--c:var(--s3)}
.s4{--c:var(--s4)}.s5{--c:var(--s5)}.s6{--c:var(--s6)}.s7{--c:var(--s7)}
svg .fill{fill:var(--c);stroke:var(--c);stroke-width:.8}
svg .hollow{fill:var(--paper);stroke:var(--c);stroke-width:1.5}
svg .stroke{fill:none;stroke:var(--c);stroke-width:1.3}
svg .thin{stroke-width:.9}svg .thick{stroke-width:3;stroke-opacity:.45}svg .curve{stroke-width:2}
svg .on-fill{stroke:var(--paper);stroke-width:1.6}
svg .d1.curve{stroke-dasharray:8 3}svg .d2.curve{stroke-dasharray:2 3}
svg .d3.curve{stroke-dasharray:9 3 2 3}svg .d4.curve{stroke-dasharray:5 5}
@media print{:root{color-scheme:light;--paper:#fff;--ink:#000;--soft:#444;--faint:#bbb;--band:#f3f3f3;--link:#000;
--s0:#0072b2;--s1:#c44e00;--s2:#007a5a;--s3:#a8447f;--s4:#8a6d00;--s5:#2a8fc4;--s6:#555;--s7:#6a4fb3}
@page{size:A4;margin:14mm}
body{max-width:none;padding:0;font-size:10.5pt;print-color-adjust:exact;-webkit-print-color-adjust:exact}
nav,.csv,section details:not([open]){display:none}
h1{font-size:17pt}h2{font-size:12.5pt}.lead{font-size:11pt}
.wide{overflow:visible}table{font-size:7.5pt;break-inside:avoid}th,td{padding:2px 4px}
section{margin-top:18px;break-inside:avoid}#scores{break-inside:auto}
figure .wide svg{min-width:0;max-height:225mm;break-inside:avoid}
figcaption{font-size:9pt}}
)css";

}  // namespace perfcast
