// Profiles that perfcast ships, to try the page with: embed.js puts them beside it.
export const examples = [
  { id: 'zpaq', label: 'zpaq, compressing', file: 'zpaq/compress.zpaq.3.c.json' },
  { id: 'crafty', label: 'Crafty, playing chess', file: 'apps/apps.crafty.json' },
  { id: 'fftw', label: 'FFTW, Fourier transforms', file: 'apps/apps.fftw.json' },
  { id: 'ffmpeg', label: 'FFmpeg, converting a video', file: 'apps/apps.ffmpeg.json' },
  { id: 'lame', label: 'LAME, encoding music', file: 'apps/apps.encode-mp3.json' },
  { id: 'sqlite', label: 'SQLite, its speed test', file: 'apps/apps.sqlite-speedtest.json' },
  { id: 'pybench', label: 'Python, a benchmark of the interpreter', file: 'apps/apps.pybench.json' },
  { id: 'sha256', label: 'OpenSSL, SHA-256', file: 'cloud/openssl.sha256.json' },
];
