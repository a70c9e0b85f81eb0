"""How the page looks: on a screen by day, by night, and on paper."""

STYLE = """
:root { color-scheme: light dark; --ink: #1d2329; --soft: #59636e; --page: #ffffff; --card: #f5f7f9; --line: #d5dbe1;
  --blue: #0067a3; --good: #0a6b4a; --bad: #ab3200; --doubt: #7a5300; }
@media (prefers-color-scheme: dark) { :root { --ink: #e4e8ec; --soft: #a3adb8; --page: #14181c; --card: #1e242a;
  --line: #3a434c; --blue: #6cb8ea; --good: #55c79b; --bad: #ff936a; --doubt: #e2b355; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 2rem 1.25rem 4rem; max-width: 62rem; background: var(--page); color: var(--ink);
  overflow-wrap: anywhere; font: 16px/1.55 system-ui, "Segoe UI", "DejaVu Sans", sans-serif; }
h1 { font-size: 1.7rem; line-height: 1.25; margin: 0 0 .3rem; }
h2 { font-size: 1.3rem; line-height: 1.3; margin: 3rem 0 .2rem; padding-top: 1.2rem; border-top: 2px solid var(--line);
  overflow-wrap: anywhere; }
h3 { font-size: 1.05rem; margin: 1.8rem 0 .4rem; }
h4 { font-size: 1rem; margin: 0; font-family: ui-monospace, "DejaVu Sans Mono", monospace; }
p { margin: .4rem 0; } a { color: var(--blue); }
.small { color: var(--soft); font-size: .88rem; }
.wide { overflow-x: auto; }
table { overflow-wrap: normal; border-collapse: collapse; font-size: .92rem; font-variant-numeric: tabular-nums; }
th, td { padding: .22rem .9rem .22rem 0; text-align: right; vertical-align: top; border-bottom: 1px solid var(--line); }
th[scope=row], thead th:first-child { text-align: left; font-weight: 400; white-space: pre-wrap; }
thead th { font-weight: 600; color: var(--soft); vertical-align: bottom; }
table.about td { text-align: left; overflow-wrap: anywhere; }
table.theorems td:nth-child(2), table.theorems th:nth-child(2) { text-align: left; }
table.theorems th[scope=row] { font-family: ui-monospace, "DejaVu Sans Mono", monospace; }
.badge { display: inline-block; padding: 0 .5em; border: 1px solid; border-radius: 1em; font: 600 .78rem/1.5 system-ui,
  "DejaVu Sans", sans-serif; color: var(--doubt); }
.badge.holds { color: var(--good); } .badge.broken { color: var(--bad); } .badge.unmet { color: var(--soft); }
.theorem { background: var(--card); border: 1px solid var(--line); border-radius: .5rem; padding: .8rem 1rem;
  margin: .9rem 0; }
.formula { font: 1.12rem/1.7 "STIX Two Math", "Cambria Math", "DejaVu Serif", serif; margin: .5rem 0;
  overflow-wrap: anywhere; }
.formula sub, .formula sup { font-size: .7em; line-height: 0; }
.bar { height: .5rem; margin: .3rem 0 .5rem; border: 1px solid var(--line); border-radius: .25rem; overflow: hidden;
  background: var(--page); max-width: 30rem; }
.bar i { display: block; height: 100%; background: var(--blue); }
.assumptions { list-style: none; margin: .5rem 0; padding: 0; }
.assumptions li { padding-left: 1.6em; text-indent: -1.6em; } .assumptions i { color: var(--soft); }
.mark { display: inline-block; width: 1.6em; text-indent: 0; font-weight: 700; color: var(--doubt); }
.mark.yes { color: var(--good); } .mark.no { color: var(--bad); }
figure { margin: 1rem 0; } figcaption { color: var(--soft); font-size: .88rem; }
.picture { background: #ffffff; border: 1px solid var(--line); border-radius: .5rem; padding: .5rem; }
.picture svg { display: block; width: 100%; height: auto; max-height: 32rem; }
pre { background: var(--card); border: 1px solid var(--line); border-radius: .4rem; padding: .5rem .8rem;
  margin: .3rem 0; white-space: pre-wrap; overflow-wrap: anywhere;
  font: .9rem/1.5 ui-monospace, "DejaVu Sans Mono", monospace; }
@media print {
  :root { --ink: #000; --soft: #444; --page: #fff; --card: #fff; --line: #aaa; --blue: #0067a3; --good: #0a6b4a;
    --bad: #ab3200; --doubt: #7a5300; }
  body { max-width: none; padding: 0; font-size: 10.5pt; } @page { margin: 17mm; }
  h2 { break-before: page; border-top: 0; margin-top: 0; padding-top: 0; }
  h2.first { break-before: auto; margin-top: 1.5rem; }
  h2, h3, h4 { break-after: avoid; } .theorem, figure, .wide, pre, li { break-inside: avoid; }
  .picture { border: 0; } .picture svg { max-height: 80mm; }
  thead { display: table-header-group; }
  .wide { overflow: visible; } a { color: inherit; text-decoration: none; } .bar, .bar i { print-color-adjust: exact; }
}
"""
