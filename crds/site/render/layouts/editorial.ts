/**
 * Editorial: a magazine. A thin bar with a kicker, an oversized headline over a picture of full width, and twelve columns in
 * which headings stand beside what they head. Source: rules/site.md#layouts.
 */
import { type Html, html } from '../../../text/html.ts'
import type { FeatureRow, Picture, Tier } from '../../content/content.ts'
import { countClass, type Frame, outward } from '../page/frame.ts'
import { collectionsOf, type PlacedProduct } from '../page/pages.ts'
import {
  actions,
  askLink,
  brandLink,
  chips,
  emptyNote,
  heading,
  initialOf,
  mailLink,
  navigation,
  optionsOf,
  otherWays,
  pager,
  priceOf,
  productName,
  quoteOf,
  specsOf,
  tierAction,
} from '../page/parts.ts'
import type { LayoutViews } from './layout.ts'

const FULL = '100vw'
const WIDE = '(min-width: 60rem) 58vw, 100vw'
const PLATE = '(min-width: 60rem) 40vw, (min-width: 40rem) 46vw, 92vw'

/** The line in the bar, as an issue of a magazine has one: the first chip, or the name of a page behind the index. */
const kickerOf = ({ content, page }: Frame): string | undefined =>
  page.slug === '' ? content.hero?.chips?.[0] : page.title

const kicker = (frame: Frame): Html | null => {
  const line = kickerOf(frame)
  return line === undefined ? null : html`<p class="kicker">${line}</p>`
}

const header = (frame: Frame): Html =>
  html`<header class="bar"><div class="wrap">${brandLink(frame)}${kicker(frame)}${navigation(frame)}</div></header>`

const hero = (frame: Frame): Html => {
  const { title, lede, chips: all = [], image, alt = '' } = frame.content.hero ?? {}
  const list = all[0] === kickerOf(frame) ? all.slice(1) : all
  const picture = frame.picture(image, { alt, sizes: FULL })
  return html`<section class="opening${picture !== null && ' pictured'}">${
    picture !== null && html`<figure>${picture}</figure>`
  }<div class="wrap"><h1><span><span>${title ?? frame.content.meta.companyName}</span></span></h1><div class="standfirst">${
    lede !== undefined && html`<p class="lede">${lede}</p>`
  }<div class="aside">${chips(list)}${actions(frame)}</div></div></div></section>`
}

/** The heading in its own column, the matter in the others. */
const spread = (head: Html, matter: Html): Html =>
  html`<div class="head">${head}</div><div class="matter">${matter}</div>`

const plate = (frame: Frame, { product, index }: PlacedProduct, pictured: boolean, level: 'h3' | 'h4'): Html => {
  const name = productName(product)
  const image =
    pictured &&
    (frame.picture(product.image, { alt: product.name, sizes: index === 0 ? WIDE : PLATE }) ?? initialOf(product.name))
  return html`<li class="plate">${image !== false && html`<div class="plate-image">${image}</div>`}<div class="plate-words"><div class="line">${
    level === 'h3' ? html`<h3>${name}</h3>` : html`<h4>${name}</h4>`
  }${priceOf(frame, product)}</div>${product.tag !== undefined && html`<p class="tag">${product.tag}</p>`}${specsOf(
    frame,
    product,
  )}${optionsOf(frame, product)}${askLink(frame, product)}</div></li>`
}

const products = (frame: Frame): Html => {
  const all = frame.content.products ?? []
  const pictured = all.some(({ image }) => image !== undefined)
  const groups = collectionsOf(frame.content, frame.page.part)
  const lists = groups.map(
    ({ name, products: placed }) =>
      html`${name !== null && html`<h3 class="collection">${name}</h3>`}<ul class="plates ${countClass(placed.length)}${
        !pictured && ' unpictured'
      }">${placed.map((one) => plate(frame, one, pictured, name === null ? 'h3' : 'h4'))}</ul>`,
  )
  return spread(heading(frame, 'products'), html`${all.length === 0 ? emptyNote(frame) : lists}${pager(frame)}`)
}

const exhibit = (frame: Frame, { image, alt, caption, link }: Picture): Html => {
  const shown = frame.picture(image, { alt: alt ?? caption ?? '', sizes: WIDE }) ?? initialOf(caption ?? alt ?? '·')
  const unnamed = alt === undefined && caption === undefined && html`<span class="vh">${frame.words.view}</span>`
  const framed = link === undefined ? shown : outward(link, html`${shown}${unnamed}`)
  return html`<li><figure>${framed}${caption !== undefined && html`<figcaption>${caption}</figcaption>`}</figure></li>`
}

const gallery = (frame: Frame): Html => {
  const list = frame.content.gallery ?? []
  if (list.length === 0) return spread(heading(frame, 'gallery'), emptyNote(frame))
  const exhibits = list.map((one) => exhibit(frame, one))
  return html`<div class="head">${heading(frame, 'gallery')}</div><ul class="exhibits ${countClass(list.length)}">${exhibits}</ul>`
}

const thought = (frame: Frame, { title, text, image }: FeatureRow): Html => {
  const picture = frame.picture(image, { alt: '', sizes: PLATE })
  return html`<li class="thought${picture !== null && ' pictured'}"><div class="words"><h3>${title}</h3>${
    text !== undefined && html`<p class="text">${text}</p>`
  }</div>${picture !== null && html`<figure>${picture}</figure>`}</li>`
}

const featureRows = (frame: Frame): Html => {
  const list = frame.content.featureRows ?? []
  return spread(
    heading(frame, 'feature_rows'),
    list.length === 0 ? emptyNote(frame) : html`<ol class="thoughts">${list.map((one) => thought(frame, one))}</ol>`,
  )
}

/** Offers as the lines of a list of prices, not as boxes. */
const offer = (frame: Frame, tier: Tier): Html =>
  html`<li class="tariff"><h3>${tier.name}</h3>${
    tier.features !== undefined && tier.features.length > 0
      ? html`<ul class="features">${tier.features.map((one) => html`<li>${one}</li>`)}</ul>`
      : html`<span></span>`
  }<div class="ask-price">${tier.price !== undefined && html`<p class="price"><strong>${tier.price}</strong></p>`}${tierAction(frame, tier)}</div></li>`

const pricing = (frame: Frame): Html => {
  const list = frame.content.pricing ?? []
  return spread(
    heading(frame, 'pricing'),
    list.length === 0 ? emptyNote(frame) : html`<ul class="tariffs">${list.map((tier) => offer(frame, tier))}</ul>`,
  )
}

const testimonials = (frame: Frame): Html => {
  const list = frame.content.testimonials ?? []
  if (list.length === 0) return spread(heading(frame, 'testimonials'), emptyNote(frame))
  const quotes = list.map((one) => html`<li>${quoteOf(one)}</li>`)
  return html`<div class="head">${heading(frame, 'testimonials')}</div><ul class="pulls ${countClass(list.length)}">${quotes}</ul>`
}

const contact = (frame: Frame): Html => {
  const { email } = frame.content.contact ?? {}
  const name = frame.content.meta.companyName
  const ways = otherWays(frame).map(
    ({ name: way, links }) => html`<div><dt>${way}</dt>${links.map((link) => html`<dd>${link}</dd>`)}</div>`,
  )
  return html`<div class="head">${heading(frame, 'contact')}</div><p class="mail">${
    email === undefined ? name : mailLink(email)
  }</p>${ways.length > 0 && html`<dl class="ways">${ways}</dl>`}`
}

const footer = (frame: Frame): Html =>
  html`<footer class="colophon"><div class="wrap"><p>${frame.content.meta.companyName}</p><p><a href="#top">${frame.words.top}</a></p></div></footer>`

/** Source: rules/site.md#layouts. */
export const editorial: LayoutViews = {
  header,
  hero,
  products,
  gallery,
  feature_rows: featureRows,
  pricing,
  testimonials,
  contact,
  footer,
}
