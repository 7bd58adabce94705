"""Styles and script of report pages: light, dark, print and small screens; sortable tables."""

# All selectors start with .ceiba-report, so that a page inside of a notebook changes nothing else.
CSS = """
.ceiba-report {
  --paper: #ffffff; --ink: #1d2125; --muted: #5c656e; --line: #d9dee3; --band: #f5f7f9;
  --link: #005a9c; --warn: #8a4b00; --warn-paper: #fff6e5; --warn-line: #e0a030;
  --note-paper: #eef4fa; --note-line: #6d9cc4;
  color-scheme: light dark;
  background: var(--paper); color: var(--ink);
  font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif;
}
@media (prefers-color-scheme: dark) {
  .ceiba-report {
    --paper: #16191c; --ink: #e4e8eb; --muted: #a3adb6; --line: #3a4249; --band: #1f2429;
    --link: #7cb8ea; --warn: #ffc46b; --warn-paper: #2e2412; --warn-line: #b07a1f;
    --note-paper: #1a2530; --note-line: #4d7da6;
  }
}
body.ceiba-report { margin: 0; }
.ceiba-report main { max-width: 62rem; margin: 0 auto; padding: 1.5rem 1.25rem 4rem; }
.ceiba-report h1 { font-size: 1.9rem; line-height: 1.2; margin: 0 0 .25rem; }
.ceiba-report h2 {
  font-size: 1.35rem; margin: 2.5rem 0 .5rem; border-bottom: 1px solid var(--line);
}
.ceiba-report h3 { font-size: 1.08rem; margin: 1.75rem 0 .4rem; }
.ceiba-report h4 { font-size: 1rem; margin: 1.5rem 0 .4rem; }
.ceiba-report p { margin: .5rem 0; max-width: 46rem; }
.ceiba-report .subtitle, .ceiba-report figcaption, .ceiba-report .below { color: var(--muted); }
.ceiba-report .below { font-size: .9rem; }
.ceiba-report a { color: var(--link); }
.ceiba-report nav ul { list-style: none; padding: 0; margin: .75rem 0; columns: 2 16rem; }
.ceiba-report nav .depth3 { margin-left: 1.2rem; font-size: .95rem; }
.ceiba-report .notes { list-style: none; padding: 0; margin: .75rem 0; }
.ceiba-report .notes li {
  margin: .4rem 0; padding: .5rem .8rem; border-left: 4px solid var(--note-line);
  background: var(--note-paper); overflow-wrap: anywhere;
}
.ceiba-report .notes li.warning {
  border-left-color: var(--warn-line); background: var(--warn-paper);
}
.ceiba-report .notes .warning strong { color: var(--warn); }
.ceiba-report .scroll { overflow-x: auto; margin: .75rem 0; }
.ceiba-report .scroll:focus-visible, .ceiba-report button:focus-visible {
  outline: 2px solid var(--link); outline-offset: 1px;
}
.ceiba-report table { border-collapse: collapse; font-size: .92rem; }
.ceiba-report caption {
  text-align: left; color: var(--muted); padding-bottom: .35rem; white-space: nowrap;
}
.ceiba-report th, .ceiba-report td {
  padding: .3rem .7rem; border-bottom: 1px solid var(--line); text-align: left;
  vertical-align: top;
}
.ceiba-report td.number { white-space: nowrap; font-variant-numeric: tabular-nums; }
.ceiba-report thead th { background: var(--band); white-space: nowrap; padding: 0; }
.ceiba-report tbody th { font-weight: 600; }
.ceiba-report tbody tr:hover { background: var(--band); }
.ceiba-report td.best { font-weight: 700; }
.ceiba-report thead button {
  all: unset; box-sizing: border-box; display: block; width: 100%; padding: .35rem .7rem;
  cursor: pointer; font-weight: 600;
}
.ceiba-report thead button::after { content: " \\2195"; color: var(--muted); font-weight: 400; }
.ceiba-report th[aria-sort="ascending"] button::after { content: " \\2191"; color: var(--ink); }
.ceiba-report th[aria-sort="descending"] button::after { content: " \\2193"; color: var(--ink); }
.ceiba-report figure { margin: 1rem 0 1.5rem; }
.ceiba-report figure .picture {
  display: inline-block; max-width: 100%; box-sizing: border-box; padding: .5rem;
  background: #ffffff; border: 1px solid var(--line); border-radius: 6px;
}
.ceiba-report figure svg, .ceiba-report figure img {
  max-width: 100%; height: auto; display: block;
}
.ceiba-report figure svg * { stroke-linejoin: round; stroke-linecap: butt; }
.ceiba-report pre {
  background: var(--band); border: 1px solid var(--line); border-radius: 6px; padding: .7rem .9rem;
  white-space: pre-wrap; overflow-wrap: anywhere; font-size: .88rem;
}
.ceiba-report footer { margin-top: 3rem; color: var(--muted); font-size: .9rem; }
@media (max-width: 40rem) {
  .ceiba-report main { padding: 1rem .75rem 3rem; }
  .ceiba-report h1 { font-size: 1.5rem; }
  .ceiba-report th, .ceiba-report td { padding: .3rem .45rem; }
}
@media print {
  .ceiba-report {
    --paper: #ffffff; --ink: #000000; --muted: #444444; --line: #bbbbbb; --band: #ffffff;
    --link: #000000; --warn: #000000; --warn-paper: #ffffff; --note-paper: #ffffff;
    font-size: 10.5pt;
  }
  .ceiba-report main { max-width: none; padding: 0; }
  .ceiba-report nav, .ceiba-report thead button::after { display: none; }
  .ceiba-report figure, .ceiba-report tr, .ceiba-report li { break-inside: avoid; }
  .ceiba-report .scroll { overflow: visible; }
}
"""

# Rows are sorted by data-sort: numbers by value, all else as text; cells without one come last.
SCRIPT = """
(() => {
  const compare = (a, b) =>
    a !== "" && b !== "" && !isNaN(a) && !isNaN(b) ? a - b : a.localeCompare(b);
  const sort = (button) => {
    const head = button.closest("th"), table = button.closest("table");
    const up = head.getAttribute("aria-sort") !== "ascending";
    for (const other of head.parentNode.cells) other.setAttribute("aria-sort", "none");
    head.setAttribute("aria-sort", up ? "ascending" : "descending");
    const key = (row) => row.cells[head.cellIndex].dataset.sort;
    const rows = [...table.tBodies[0].rows];
    const known = rows.filter((row) => key(row) !== "");
    known.sort((a, b) => (up ? 1 : -1) * compare(key(a), key(b)));
    table.tBodies[0].append(...known, ...rows.filter((row) => key(row) === ""));
  };
  for (const button of document.querySelectorAll(".ceiba-report table.sortable thead button")) {
    button.onclick = () => sort(button);
  }
})();
"""
