#pragma once
// The figures of a diagnosis' page. Each says in its caption why there is nothing to draw, where there is nothing.

#include <string>

#include "base/figure/page.h"
#include "measure/diagnose/diagnosis.h"

namespace perfcast::measure {

// Where the time goes: the first thread's by what it waits for, the CPU time by what bounds it.
Figure time_split_figure(const Diagnosis& diagnosis);
// Hot functions as points under this machine's measured ceilings.
Figure roofline_figure(const Diagnosis& diagnosis);
// The course of the run: CPU time by function, phases, what each thread did.
Figure timeline_figure(const Diagnosis& diagnosis);

// The experiments of a finding, each with its 95% interval beside the command as it is; empty where nothing was tried.
// `number` makes its id unique in the page.
std::string experiments_svg(const Finding& finding, size_t number);

// Classes that these drawings use beside page_style.h's.
inline constexpr const char* kDiagnosisStyle = R"css(
svg .area{fill:var(--c);stroke:var(--c);stroke-width:.4}
svg .part{fill:var(--c);stroke:var(--paper);stroke-width:1.2}
svg .lane{fill:var(--c);stroke:none}
svg .wait{--c:var(--faint)}svg .idle{fill:var(--band)}
svg .on-bar{fill:var(--paper);font-weight:600}
svg .roof{fill:none;stroke:var(--soft);stroke-width:1.6}
svg .top{fill:none;stroke:var(--ink);stroke-width:2}
svg .low{fill:none;stroke:var(--soft);stroke-width:1.2;stroke-dasharray:6 4}
svg .leader{stroke:var(--faint);stroke-width:1}
svg .halo{paint-order:stroke;stroke:var(--paper);stroke-width:4px;stroke-linejoin:round}
svg .proven{stroke:var(--s2);stroke-width:7;stroke-opacity:.75}svg .open{stroke:var(--soft);stroke-width:7;stroke-opacity:.55}
svg .even{stroke:var(--ink);stroke-width:1.2;stroke-dasharray:4 3}
svg .dot{fill:var(--ink);stroke:var(--paper);stroke-width:1}
article{border:1px solid var(--faint);border-radius:8px;padding:12px 16px;margin:12px 0;break-inside:avoid}
article.first{border-color:var(--s0);border-width:2px}
article h3{font-size:16px;margin:0 0 4px}article .gain{margin:0 0 6px}article .cause{color:var(--soft);font-weight:400}
article dl{margin:8px 0 0;grid-template-columns:92px 1fr}
article .wide svg{display:block;width:100%;min-width:640px;height:auto;margin-top:8px}
#functions td.name{white-space:normal;max-width:34em;overflow-wrap:anywhere}
)css";

}  // namespace perfcast::measure
