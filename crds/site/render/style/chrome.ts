/** Navigation: links in a bar where they fit one line, else a menu that opens in the flow; the bar at a phone's foot. */

export const CHROME = `
.announce{background:var(--inverse);color:var(--on-inverse);padding:.6rem var(--mg);text-align:center;font-size:max(.9375rem,var(--t-1))}
.announce p{max-width:none}.announce a:hover{color:inherit}
.announce time{opacity:1;font-variant-numeric:tabular-nums;margin-inline-start:.75em}
.set{display:grid;gap:calc(var(--gut)*.5);min-width:0;min-height:0}
.set>.im{aspect-ratio:auto!important;height:100%;min-height:0;max-height:none!important;width:100%}
.hero :is(.one,.set){aspect-ratio:var(--r);height:auto;width:min(100%,var(--mw),calc(var(--hh,100svh)*var(--r)))}
.top{background:var(--bg);z-index:4;position:relative}
.bar{position:relative;display:flex;flex-wrap:wrap;align-items:center;gap:0 2rem;min-height:3.5rem}
.bar>.brand{display:flex;align-items:center;min-height:3.5rem;padding-block:.5rem;min-width:0;max-width:calc(100% - 7rem);position:relative;z-index:1}
.bar>.button,.bar>.kicker{display:none}
.links{display:none}
.langs{display:flex;flex-wrap:wrap;gap:0 1.25rem}
.langs a{display:flex;align-items:center;min-height:2.75rem;min-width:2.75rem;text-decoration:none;font-size:max(.9375rem,var(--t-1));white-space:nowrap}
.langs a:hover{text-decoration:underline;text-underline-offset:.4em}
.langs [aria-current]{font-weight:600}
.bar>.langs{display:none;justify-content:flex-end;flex-wrap:nowrap}
.links ul{display:flex;gap:.25rem clamp(1rem,2.2vw,2rem)}
.links a{display:flex;align-items:center;min-height:2.75rem;white-space:nowrap;text-decoration:none;font-size:max(.9375rem,var(--t-1))}
.links a:hover,.links [aria-current]{text-decoration:underline;text-decoration-thickness:2px;text-underline-offset:.4em}
.links [aria-current]{font-weight:600}
.menu{flex:0 0 100%;margin-top:-3.5rem}
.menu>summary{display:flex;align-items:center;gap:.6rem;width:fit-content;margin-inline-start:auto;min-height:3.5rem;font-weight:600;list-style:none}
.menu>summary::-webkit-details-marker{display:none}
.menu>summary::after{content:"";width:1.25rem;height:.5rem;border-block:2px solid currentColor}
.menu[open]>summary::after{height:0;border-bottom:0}
.menu .mc,.menu[open] .mo{display:none}
.menu[open] .mc{display:inline}
.panel{padding:.5rem 0 1.5rem;border-top:1px solid var(--lin)}
.panel a{display:flex;align-items:center;min-height:3rem;font-size:var(--t1);text-decoration:none}
.panel [aria-current]{font-weight:700;text-decoration:underline;text-decoration-thickness:2px;text-underline-offset:.3em}
.panel .under{border-top:1px solid var(--lin);margin-top:.5rem;padding-top:.5rem}
.panel .under a{font-size:var(--t0)}
.panel>:is(.langs,.tel,.hrs){border-top:1px solid var(--lin);margin-top:.5rem;padding-top:.5rem;max-width:none}
.panel .langs [aria-current]{text-decoration:none}
.panel .tel{display:flex;flex-wrap:wrap;align-items:center;gap:0 1rem}
.panel .tel span{color:var(--mut)}
.panel .hrs{padding-block:.75rem;font-variant-numeric:tabular-nums lining-nums}
.panel .button{display:inline-flex;margin-top:1rem;font-size:1rem}
@media (min-width:48rem){.fit-m .links{display:block}.fit-m .menu{display:none}.fit-m .bar>.button{display:inline-flex}.fit-m .bar>.kicker{display:block}.fit-m .bar>.langs{display:flex}.fit-m .bar{flex-wrap:nowrap}.fit-m .bar>.brand{max-width:none}}
@media (min-width:64rem){.fit-w .links{display:block}.fit-w .menu{display:none}.fit-w .bar>.button{display:inline-flex}.fit-w .bar>.kicker{display:block}.fit-w .bar>.langs{display:flex}.fit-w .bar{flex-wrap:nowrap}.fit-w .bar>.brand{max-width:none}}
.dock{position:fixed;inset:auto 0 0;z-index:5;display:grid;grid-auto-flow:column;grid-auto-columns:1fr;background:var(--paper);border-top:1px solid var(--line)}
.dock a{display:flex;align-items:center;justify-content:center;min-height:3.5rem;padding:.25rem .75rem;border-radius:0;border:0;font-size:1rem;font-weight:600;line-height:1.2;text-decoration:none;text-align:center}
@media (max-width:63.99rem){.dock>.chat:first-child{background:var(--fill);color:var(--on-fill)}}
.dock :focus-visible{outline-offset:-5px;box-shadow:none}
@media (max-width:63.99rem){.docked{padding-bottom:3.5rem}html:has(.docked){scroll-padding-bottom:4.5rem}}
@media (min-width:64rem){.dock{inset:auto 0 2rem auto;border:0;background:none}.dock>:not(.chat),.dock:not(:has(.chat)){display:none}
.dock .chat{writing-mode:vertical-rl;min-height:0;padding:1rem .3rem;background:var(--inverse);color:var(--on-inverse);font-size:.875rem;border-radius:var(--rad) 0 0 var(--rad)}}
.phead{padding-block:calc(var(--gap)*.6) calc(var(--gap)*.2)}
.phead .lede{margin-top:1rem;color:var(--mut)}
.foot{padding-block:calc(var(--gap)*.5) 2rem;font-size:max(.9375rem,var(--t-1))}
.foot a{display:inline-flex;align-items:center;min-height:2.75rem}
.fcols{display:grid;gap:1.5rem var(--gut)}
.fcols dt{color:var(--mut);font-size:var(--t-1)}
.foot [hreflang][aria-current]{text-decoration:none;font-weight:600}
.fcols dd+dt{margin-top:.75rem}
.fcols .who{font:var(--hw) var(--t1)/1.2 var(--head)}
.legal{display:flex;flex-wrap:wrap;justify-content:space-between;align-items:center;gap:.25rem 2rem;margin-top:2rem;padding-top:1rem;border-top:1px solid var(--lin);color:var(--mut);max-width:none}
@media (min-width:40rem){.fcols{grid-template-columns:repeat(2,minmax(0,1fr))}}
@media (min-width:64rem){.fcols{grid-template-columns:minmax(0,1.6fr) repeat(auto-fit,minmax(9rem,1fr))}}
`
