/** The style of the pages on which layouts and templates are looked at side by side. */
import { makeSheet } from '../../page/sheet.ts'

const RULES = `.wide { max-width: 96rem; }
.wide > header { display: block; }
.wide > header p { max-width: 44rem; margin-top: 0.5rem; }
.kinds { display: flex; flex-wrap: wrap; gap: 0.25rem 1rem; padding: 0; list-style: none; }
.kinds a { display: inline-flex; align-items: center; min-height: 2.75rem; }
.kinds [aria-current] { font-weight: 700; text-decoration: none; color: inherit; }
.cards { display: grid; grid-template-columns: repeat(auto-fill, minmax(17rem, 1fr)); gap: 1.5rem; padding: 0; list-style: none; margin-top: 1rem; }
.cards li { display: grid; gap: 0.5rem; align-content: start; }
.cards p { font-size: var(--small); }
.words { display: grid; grid-template-columns: auto minmax(0, 1fr); gap: 0.25rem 1.5rem; margin-top: 0.75rem; }
.words dt { color: inherit; font-size: inherit; font-weight: 600; }
.sheets { display: grid; grid-template-columns: repeat(auto-fill, minmax(9rem, 1fr)); gap: 1rem; padding: 0; list-style: none; margin-top: 1rem; }
.sheets li { display: grid; gap: 0.375rem; align-content: start; }
.sheets img, .cards img { display: block; width: 100%; height: auto; border: 1px solid var(--rule); border-radius: var(--round); }
.best img { outline: 3px solid var(--accent); outline-offset: 2px; }
.frames { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 22.5rem), 1fr)); gap: 2rem 1.5rem; padding: 0; list-style: none; }
.frames li { display: grid; grid-template-columns: minmax(0, 1fr); gap: 0.5rem; align-content: start; }
.frame { width: 22.5rem; max-width: 100%; height: 28rem; overflow: hidden; border: 1px solid var(--rule); border-radius: var(--round); background: #fff; }
.frame iframe { display: block; width: 90rem; height: 112rem; border: 0; transform: scale(0.25); transform-origin: 0 0; }
.frames pre { margin: 0; padding: 0.5rem 0.75rem; overflow-x: auto; background: var(--ground); border-radius: var(--round); white-space: pre-wrap; }
.sign { color: var(--muted); font-size: var(--small); }`

export const CHOOSING_SHEET = makeSheet('/templates/assets', 'choosing', RULES)
