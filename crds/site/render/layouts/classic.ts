/**
 * Classic: the trusted shop front. A top bar that stays, headline beside the picture, bands that alternate, cards in threes.
 * Source: rules/site.md#layouts.
 */
import { type Html, html } from '../../../text/html.ts'
import type { FeatureRow, Picture, Product, Testimonial, Tier } from '../../content/content.ts'
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

const HALF = '(min-width: 60rem) 50vw, 100vw'
const THIRD = '(min-width: 60rem) 24rem, (min-width: 40rem) 46vw, 92vw'

const header = (frame: Frame): Html =>
  html`<header class="top"><div class="wrap">${brandLink(frame)}${navigation(frame)}</div></header>`

const hero = (frame: Frame): Html => {
  const { title, lede, chips: list, image, alt = '' } = frame.content.hero ?? {}
  const picture = frame.picture(image, { alt, sizes: HALF })
  return html`<section class="hero${picture !== null && ' pictured'}"><div class="wrap"><div class="words"><h1>${
    title ?? frame.content.meta.companyName
  }</h1>${lede !== undefined && html`<p class="lede">${lede}</p>`}${actions(frame)}${chips(list)}</div>${
    picture !== null && html`<figure>${picture}</figure>`
  }</div></section>`
}

const card = (frame: Frame, { product }: PlacedProduct, pictured: boolean, level: 'h3' | 'h4'): Html => {
  const name = productName(product)
  const title = level === 'h3' ? html`<h3>${name}</h3>` : html`<h4>${name}</h4>`
  return html`<li class="card">${pictured && cardImage(frame, product)}<div class="card-words">${
    product.tag !== undefined && html`<p class="tag">${product.tag}</p>`
  }${title}${priceOf(frame, product)}${specsOf(frame, product)}${optionsOf(frame, product)}${askLink(frame, product)}</div></li>`
}

const cardImage = (frame: Frame, product: Product): Html =>
  html`<div class="card-image">${frame.picture(product.image, { alt: product.name, sizes: THIRD }) ?? initialOf(product.name)}</div>`

const products = (frame: Frame): Html => {
  const all = frame.content.products ?? []
  const pictured = all.some(({ image }) => image !== undefined)
  const groups = collectionsOf(frame.content, frame.page.part)
  const named = groups.some(({ name }) => name !== null)
  const lists = groups.map(
    ({ name, products: placed }) =>
      html`${name !== null && html`<h3 class="collection">${name}</h3>`}<ul class="cards ${countClass(placed.length)}">${placed.map(
        (one) => card(frame, one, pictured, named && name !== null ? 'h4' : 'h3'),
      )}</ul>`,
  )
  return html`${heading(frame, 'products')}${all.length === 0 ? emptyNote(frame) : lists}${pager(frame)}`
}

const figure = (frame: Frame, { image, alt, caption, link }: Picture): Html => {
  const shown = frame.picture(image, { alt: alt ?? caption ?? '', sizes: THIRD })
  const inside = html`${shown ?? initialOf(caption ?? alt ?? '·')}${caption !== undefined && html`<span class="caption">${caption}</span>`}`
  return html`<li><figure>${link === undefined ? inside : outward(link, named(frame, { alt, caption }, inside))}</figure></li>`
}

/** A link around a picture that nobody described still has a name. */
const named = (
  frame: Frame,
  { alt, caption }: { alt: string | undefined; caption: string | undefined },
  inside: Html,
) => (alt === undefined && caption === undefined ? html`${inside}<span class="vh">${frame.words.view}</span>` : inside)

const gallery = (frame: Frame): Html => {
  const list = frame.content.gallery ?? []
  return html`${heading(frame, 'gallery')}${
    list.length === 0
      ? emptyNote(frame)
      : html`<ul class="tiles ${countClass(list.length)}">${list.map((one) => figure(frame, one))}</ul>`
  }`
}

const row = (frame: Frame, { title, text, image }: FeatureRow): Html => {
  const picture = frame.picture(image, { alt: '', sizes: HALF })
  return html`<div class="row${picture !== null && ' pictured'}"><div class="words"><h3>${title}</h3>${
    text !== undefined && html`<p class="text">${text}</p>`
  }</div>${picture !== null && html`<figure>${picture}</figure>`}</div>`
}

const featureRows = (frame: Frame): Html => {
  const list = frame.content.featureRows ?? []
  const shape = list.some(({ image }) => image !== undefined) ? 'zigzag' : `columns ${countClass(list.length)}`
  return html`${heading(frame, 'feature_rows')}${
    list.length === 0 ? emptyNote(frame) : html`<div class="rows ${shape}">${list.map((one) => row(frame, one))}</div>`
  }`
}

const offer = (frame: Frame, tier: Tier): Html =>
  html`<li class="card offer"><div class="card-words"><h3>${tier.name}</h3>${
    tier.price !== undefined && html`<p class="price"><strong>${tier.price}</strong></p>`
  }${
    tier.features !== undefined &&
    tier.features.length > 0 &&
    html`<ul class="ticks">${tier.features.map((one) => html`<li>${one}</li>`)}</ul>`
  }${tierAction(frame, tier)}</div></li>`

const pricing = (frame: Frame): Html => {
  const list = frame.content.pricing ?? []
  return html`${heading(frame, 'pricing')}${
    list.length === 0
      ? emptyNote(frame)
      : html`<ul class="cards offers ${countClass(list.length)}">${list.map((tier) => offer(frame, tier))}</ul>`
  }`
}

const testimonials = (frame: Frame): Html => {
  const list = frame.content.testimonials ?? []
  const quotes = list.map((one: Testimonial) => html`<li>${quoteOf(one)}</li>`)
  return html`${heading(frame, 'testimonials')}${
    list.length === 0 ? emptyNote(frame) : html`<ul class="quotes ${countClass(list.length)}">${quotes}</ul>`
  }`
}

const contact = (frame: Frame): Html => {
  const { email } = frame.content.contact ?? {}
  const ways = otherWays(frame)
  return html`<div class="reach"><div>${heading(frame, 'contact')}${
    email !== undefined
      ? html`<p class="mail">${mailLink(email)}</p>`
      : html`<p class="mail">${frame.content.meta.companyName}</p>`
  }</div>${
    ways.length > 0 &&
    html`<dl class="ways">${ways.map(({ name, links }) => html`<div><dt>${name}</dt>${links.map((link) => html`<dd>${link}</dd>`)}</div>`)}</dl>`
  }</div>`
}

const footer = (frame: Frame): Html =>
  html`<footer class="foot"><div class="wrap"><p>${frame.content.meta.companyName}</p><p><a href="#top">${frame.words.top}</a></p></div></footer>`

/** Source: rules/site.md#layouts. */
export const classic: LayoutViews = {
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
