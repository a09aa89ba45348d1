"""How a report looks: one style sheet, every rule inside `.nbprof-report`.

In: nothing. Out: `STYLE` for the fragment, `PAGE` for a page that holds nothing else. Colours are JupyterLab's
where it has set them; elsewhere ink is what the page writes with, and rules and grounds are mixed from it, so that
a report reads on any ground, also one that knows nothing of themes.
"""

from __future__ import annotations

STYLE = """
.nbprof-report{--nb-ink:var(--jp-ui-font-color1,var(--vscode-editor-foreground,currentColor));
--nb-accent:#3b7dd8;--nb-warn:var(--jp-warn-color1,#c77700);
--nb-soft:rgba(128,128,128,.95);--nb-rule:rgba(128,128,128,.22);--nb-ground:rgba(128,128,128,.07);
--nb-track:rgba(128,128,128,.14);
--nb-code:var(--jp-code-font-family,ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace);
color:var(--nb-ink);font:13px/1.5 var(--jp-ui-font-family,system-ui,-apple-system,"Segoe UI",Helvetica,Arial,sans-serif);
max-width:1180px;padding:2px 2px 10px;text-align:left;container-type:inline-size}
@supports (color:color-mix(in srgb,red,blue)){.nbprof-report{
--nb-soft:color-mix(in srgb,var(--nb-ink) 64%,transparent);--nb-rule:color-mix(in srgb,var(--nb-ink) 15%,transparent);
--nb-ground:color-mix(in srgb,var(--nb-ink) 4.5%,transparent);--nb-track:color-mix(in srgb,var(--nb-ink) 9%,transparent)}}
.nbprof-report.nbprof-report *{box-sizing:border-box}
.nbprof-report.nbprof-report p{margin:0}
.nbprof-report .nbprof-warning{border-left:3px solid var(--nb-warn);background:var(--nb-ground);
border-radius:0 6px 6px 0;padding:8px 14px;margin:0 0 12px}
.nbprof-report .nbprof-warning strong{font-weight:600}
.nbprof-report.nbprof-report p.nbprof-lead{font-size:16px;line-height:1.5;margin:4px 0 18px;max-width:78ch;
text-wrap:pretty;overflow-wrap:anywhere}
.nbprof-report p.nbprof-lead strong{font-weight:600}
.nbprof-report .nbprof-soft{color:var(--nb-soft)}
.nbprof-report.nbprof-report dl.nbprof-tiles{display:flex;flex-wrap:wrap;margin:0 0 8px;padding:0;
border:1px solid var(--nb-rule);border-radius:8px;overflow:hidden}
.nbprof-report.nbprof-report dl.nbprof-tiles>div{flex:1 1 128px;padding:10px 14px 9px;margin:0;
box-shadow:-1px -1px 0 var(--nb-rule)}
.nbprof-report.nbprof-report dl.nbprof-tiles dt{font-size:11.5px;font-weight:400;font-style:normal;line-height:1.4;
color:var(--nb-soft);margin:0;padding:0;float:none;width:auto}
.nbprof-report.nbprof-report dl.nbprof-tiles dd{margin:0;padding:0;width:auto;float:none}
.nbprof-report .nbprof-figure{font-size:20px;line-height:1.35;font-weight:600;letter-spacing:-.01em;
font-variant-numeric:tabular-nums;display:block;white-space:nowrap}
.nbprof-report .nbprof-aside{font-size:11.5px;color:var(--nb-soft);font-variant-numeric:tabular-nums}
.nbprof-report section{margin:22px 0 0}
.nbprof-report.nbprof-report ul.nbprof-findings{list-style:none;margin:0;padding:0;max-width:96ch}
.nbprof-report.nbprof-report ul.nbprof-findings>li{margin:0;padding:6px 0 6px 14px;border-left:3px solid var(--nb-rule);
overflow-wrap:anywhere}
.nbprof-report.nbprof-report ul.nbprof-findings>li+li{margin-top:6px}
.nbprof-report.nbprof-report ul.nbprof-findings>li.nbprof-high{border-left-color:var(--nb-warn)}
.nbprof-report.nbprof-report ul.nbprof-findings>li.nbprof-medium{border-left-color:var(--nb-accent)}
.nbprof-report .nbprof-findings .nbprof-aside{display:block}
.nbprof-report .nbprof-findings code{font-family:var(--nb-code);font-size:11.5px;background:none;padding:0;color:inherit}
.nbprof-report.nbprof-report h4{font-size:14px;font-weight:600;font-style:normal;line-height:1.4;margin:0 0 6px;
color:var(--nb-ink);letter-spacing:0;text-transform:none}
.nbprof-report h4 .nbprof-aside{font-weight:400;margin-left:8px;font-size:12px}
.nbprof-report.nbprof-report table.nbprof-table{border-collapse:collapse;border-spacing:0;border:0;margin:0;width:100%;
table-layout:fixed;font-size:12.5px;line-height:1.45;color:inherit;background:none}
.nbprof-report.nbprof-report table.nbprof-table tr:nth-child(n){background:none;border:0}
.nbprof-report.nbprof-report table.nbprof-table tbody tr:nth-child(n):hover{background:var(--nb-ground)}
.nbprof-report.nbprof-report table.nbprof-table th,.nbprof-report.nbprof-report table.nbprof-table td{
padding:5px 10px;border:0;border-bottom:1px solid var(--nb-rule);text-align:right;vertical-align:baseline;
white-space:nowrap;font-variant-numeric:tabular-nums;max-width:none}
.nbprof-report.nbprof-report table.nbprof-table thead th{font-size:11.5px;font-weight:500;color:var(--nb-soft);
border-bottom:1px solid var(--nb-soft);white-space:normal;vertical-align:bottom;line-height:1.3;background:none}
.nbprof-report.nbprof-report table.nbprof-table .nbprof-name,
.nbprof-report.nbprof-report table.nbprof-table .nbprof-word{text-align:left;padding-left:0}
.nbprof-report.nbprof-report table.nbprof-table .nbprof-word{padding-left:10px}
.nbprof-report.nbprof-report table.nbprof-table td.nbprof-name{font-family:var(--nb-code);font-size:12px;
white-space:normal;overflow-wrap:anywhere;font-weight:400}
.nbprof-report .nbprof-long{display:-webkit-box;-webkit-box-orient:vertical;-webkit-line-clamp:2;overflow:hidden;
cursor:zoom-in;outline:0}
.nbprof-report .nbprof-long:focus{-webkit-line-clamp:unset;cursor:text}
.nbprof-report .nbprof-long:focus-visible{box-shadow:0 0 0 2px var(--nb-accent);border-radius:2px}
.nbprof-report.nbprof-report table.nbprof-table .nbprof-share{text-align:left;padding-left:18px}
.nbprof-report .nbprof-unit{display:block;font-weight:400}
.nbprof-report col.nbprof-number{width:90px}
.nbprof-report col.nbprof-word{width:106px}
.nbprof-report col.nbprof-share{width:176px}
.nbprof-report .nbprof-crowded col.nbprof-number{width:82px}
.nbprof-report .nbprof-crowded col.nbprof-share{width:164px}
.nbprof-report .nbprof-percent{display:inline-block;min-width:4.6em;text-align:right;padding-right:8px}
.nbprof-report .nbprof-track{display:inline-block;vertical-align:middle;width:calc(100% - 4.9em);height:7px;
border-radius:4px;background:var(--nb-track);overflow:hidden}
.nbprof-report .nbprof-bar{display:block;height:100%;border-radius:4px;background:var(--nb-accent);min-width:2px}
.nbprof-report .nbprof-branch{color:var(--nb-soft);opacity:.7;font-family:var(--nb-code)}
.nbprof-report.nbprof-live .nbprof-sortable thead th{cursor:pointer;user-select:none}
.nbprof-report.nbprof-live .nbprof-sortable thead th:hover{color:var(--nb-ink)}
.nbprof-report.nbprof-live .nbprof-sortable th[aria-sort]{color:var(--nb-ink)}
.nbprof-report .nbprof-sortable th[aria-sort=descending]:after{content:" \\2193"}
.nbprof-report .nbprof-sortable th[aria-sort=ascending]:after{content:" \\2191"}
.nbprof-report.nbprof-report details{margin:0}
.nbprof-report.nbprof-report summary{cursor:pointer;color:var(--nb-soft);font-size:12px;padding:7px 0;
list-style-position:inside}
.nbprof-report.nbprof-report summary:hover{color:var(--nb-ink)}
.nbprof-report .nbprof-charts{display:flex;flex-wrap:wrap;gap:10px 28px;align-items:flex-start}
.nbprof-report.nbprof-report .nbprof-charts img{
flex:0 1 auto;max-width:100%;height:auto;margin:0;background:none;display:block}
.nbprof-report.nbprof-report dl.nbprof-facts{display:grid;grid-template-columns:max-content 1fr;gap:3px 20px;margin:0;
padding:0;font-size:12.5px}
.nbprof-report.nbprof-report dl.nbprof-facts dt{color:var(--nb-soft);font-weight:400;font-style:normal;margin:0;padding:0;
float:none;width:auto}
.nbprof-report.nbprof-report dl.nbprof-facts dd{margin:0;padding:0;overflow-wrap:anywhere;float:none;width:auto;
font-variant-numeric:tabular-nums}
.nbprof-report.nbprof-report.nbprof-report code{font-family:var(--nb-code);font-size:12px;background:var(--nb-ground);
color:inherit;
border:0;border-radius:4px;padding:1px 6px;white-space:pre-wrap}
.nbprof-report.nbprof-report dl.nbprof-facts code{overflow-wrap:anywhere}
@container (max-width:760px){.nbprof-report.nbprof-report .nbprof-minor{display:none}
.nbprof-report .nbprof-table.nbprof-table col.nbprof-number{width:72px}
.nbprof-report .nbprof-table.nbprof-table col.nbprof-word{width:102px}
.nbprof-report .nbprof-table.nbprof-table col.nbprof-share{width:128px}
.nbprof-report.nbprof-report table.nbprof-table th,
.nbprof-report.nbprof-report table.nbprof-table td{padding-left:6px;padding-right:6px}
.nbprof-report.nbprof-report dl.nbprof-facts{gap:3px 12px}}
""".replace("\n", "")
"""Names of classes are doubled where a rule must win over the one that a notebook has for any table or list."""

PAGE = """
:root{color-scheme:light dark;--nb-page:#fff}
body{margin:0;padding:32px clamp(16px,5vw,64px) 64px;background:var(--nb-page);color:#1f2328}
body>.nbprof-report{margin:0 auto}
@media (prefers-color-scheme:dark){:root{--nb-page:#111418}body{color:#e6e8eb}}
""".replace("\n", "")
