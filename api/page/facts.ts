/** Pieces that say a fact: a word and its value, an instant. */
import { type Html, html } from '../../crds/text/html.ts'

/** One pair of a `<dl class="facts">`. */
export const fact = (name: string, value: Html | string): Html => html`<div><dt>${name}</dt><dd>${value}</dd></div>`

const MINUTES = 16
const SECONDS = 19

/** @param iso an instant in UTC, as `2026-11-22T10:00:00.000Z` */
export const instant = (iso: string, { hasSeconds = false }: { hasSeconds?: boolean } = {}): Html =>
  html`<time datetime="${iso}">${iso.slice(0, hasSeconds ? SECONDS : MINUTES).replace('T', ' ')} UTC</time>`
