/** The theme of every page, in the light and in the dark: colours with enough contrast, the text, the sheet. */
export const THEME = `:root {
  color-scheme: light dark;
  --ink: #16191f; --muted: #555e6b; --paper: #ffffff; --ground: #f3f4f6; --rule: #d7dbe0; --edge: #767f8b;
  --accent: #1d4ed8; --on-accent: #ffffff; --good: #146c43; --bad: #a61b1b; --note: #6b4a00; --note-ground: #fff4d6;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ink: #eceff3; --muted: #a7b0bd; --paper: #191d24; --ground: #0f1216; --rule: #343b46; --edge: #8a94a3;
    --accent: #93b4ff; --on-accent: #0b1220; --good: #6fd3a0; --bad: #ff9d97; --note: #ffd98a; --note-ground: #3a2f12;
  }
}
*, ::before, ::after { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; }
body {
  margin: 0; padding: 1.5rem 1rem 3rem; background: var(--ground); color: var(--ink);
  font: 1rem/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "PingFang TC", "Microsoft JhengHei", "Noto Sans CJK TC", sans-serif;
}
main { margin: 0 auto; background: var(--paper); border: 1px solid var(--rule); border-radius: 0.5rem; overflow-wrap: anywhere; }`
