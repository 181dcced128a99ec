/**
 * The form kit: a field is its label, what helps to fill it in, what was wrong with it, and the input, tied together for
 * whoever hears the page. Source: WCAG 2.2 (1.3.1, 1.3.5, 3.3.1, 3.3.2).
 */
import { type Html, html, safeUrl } from '../../crds/text/html.ts'

/** What every field has. `id` names what is sent, too, unless `name` does. */
export type FieldFacts = {
  id: string
  name?: string
  label: string
  hint?: string
  /** What was wrong with what was entered last; the field then has the focus. */
  fault?: string | null
  /** The id of a text of the page that describes it, too. */
  about?: string
  /** As wide as its page. */
  isFull?: true
}

/** Attributes of the input that follow from what is said about it. */
const tied = ({ id, hint, fault, about }: FieldFacts): Html => {
  const ids = [about, hint && `${id}-hint`, fault && `${id}-fault`].filter(Boolean)
  return html`${ids.length > 0 && html` aria-describedby="${ids.join(' ')}"`}${Boolean(fault) && html` aria-invalid="true" autofocus`}`
}

const field = ({ id, label, hint, fault, isFull }: FieldFacts, input: Html): Html =>
  html`<div class="field${isFull === true && ' full'}"><label for="${id}">${label}</label>
${hint !== undefined && html`<p class="hint" id="${id}-hint">${hint}</p>`}
${Boolean(fault) && html`<p class="fault" id="${id}-fault" role="alert">${fault ?? ''}</p>`}
${input}</div>`

export type InputFacts = FieldFacts & {
  type?: 'text' | 'email' | 'tel' | 'password' | 'date' | 'month'
  value?: string
  /** What the browser may fill in. */
  autocomplete: 'name' | 'email' | 'tel' | 'current-password' | 'off'
  maxLength?: number
  /** May be left empty. */
  isOptional?: true
  inputMode?: 'decimal'
  /** Taken letter by letter: nothing is put into capitals or corrected. */
  isVerbatim?: true
}

/** One line of text, a day or a month. */
export const inputField = (facts: InputFacts): Html => {
  const { id, name = id, type = 'text', value = '', autocomplete, maxLength, isOptional, inputMode, isVerbatim } = facts
  const most = maxLength !== undefined && html` maxlength="${maxLength}"`
  const mode = inputMode !== undefined && html` inputmode="${inputMode}"`
  const verbatim = isVerbatim === true && html` autocapitalize="none" spellcheck="false"`
  const required = isOptional !== true && html` required`
  return field(
    facts,
    html`<input id="${id}" name="${name}" type="${type}"${required} autocomplete="${autocomplete}"${verbatim}${mode}${most} value="${value}"${tied(facts)}>`,
  )
}

/** The field `password` of a gate, which the text `lead` of its page describes. */
export const passwordField = (facts: Pick<FieldFacts, 'label' | 'fault'>): Html =>
  inputField({
    id: 'password',
    type: 'password',
    autocomplete: 'current-password',
    isVerbatim: true,
    maxLength: 200,
    about: 'lead',
    ...facts,
  })

/** Many lines of text. */
export const textField = (
  facts: FieldFacts & { maxLength: number; value?: string; rows?: number; isRequired?: true },
): Html => {
  const { id, name = id, maxLength, value = '', rows, isRequired } = facts
  const more = html`${rows !== undefined && html` rows="${rows}"`}${isRequired === true && html` required`}`
  return field(
    facts,
    html`<textarea id="${id}" name="${name}" maxlength="${maxLength}"${more}${tied(facts)}>${value}</textarea>`,
  )
}

export type Options = readonly (readonly [value: string, words: string])[]

/** One of a few. */
export const selectField = (facts: FieldFacts & { options: Options; chosen: string }): Html => {
  const { id, name = id, options, chosen } = facts
  const shown = options.map(
    ([value, words]) => html`<option value="${value}"${value === chosen && html` selected`}>${words}</option>`,
  )
  return field(facts, html`<select id="${id}" name="${name}"${tied(facts)}>${shown}</select>`)
}

export type ChoiceFacts = {
  type: 'radio' | 'checkbox'
  id: string
  name: string
  value: string
  label: string
  hint: string
  isChosen: boolean
}

/** One line to tick. */
export const choice = ({ type, id, name, value, label, hint, isChosen }: ChoiceFacts): Html =>
  html`<div class="choice"><input type="${type}" id="${id}" name="${name}" value="${value}" aria-describedby="${id}-hint"${isChosen && html` checked`}>
<label for="${id}">${label}</label><p class="hint" id="${id}-hint">${hint}</p></div>`

export const hiddenField = (name: string, value: string): Html =>
  html`<input type="hidden" name="${name}" value="${value}">`

/** `about` is heard and not seen: what the button is for, where its words alone do not tell. */
export type ButtonFacts = {
  words: string
  about?: string
  tone?: 'plain' | 'quiet' | 'danger'
  name?: string
  value?: string
}

export const button = ({ words, about, tone, name, value = '' }: ButtonFacts): Html =>
  html`<button${tone !== undefined && html` class="${tone}"`} type="submit"${name !== undefined && html` name="${name}" value="${value}"`}>${words}${about !== undefined && visuallyHidden(` ${about}`)}</button>`

/** A link that looks like a button. */
export const buttonLink = (url: string, words: string, tone?: 'plain' | 'quiet'): Html =>
  html`<a class="button${tone !== undefined && ` ${tone}`}" href="${safeUrl(url)}">${words}</a>`

/** Heard and not seen. */
export const visuallyHidden = (words: string): Html => html`<span class="visually-hidden">${words}</span>`

export type FormFacts = {
  /** Where it goes; the page's own address when left out. */
  action?: string
  method?: 'get' | 'post'
  className?: string
  /** Guards it against posts from elsewhere. */
  formToken?: string
  /** The id of a text that describes it. */
  about?: string
  opensWindow?: true
}

export const form = (facts: FormFacts, content: Html | readonly Html[]): Html => {
  const { action, method = 'post', className, formToken, about, opensWindow } = facts
  return html`<form${className !== undefined && html` class="${className}"`} method="${method}"${action !== undefined && html` action="${safeUrl(action)}"`}${about !== undefined && html` aria-describedby="${about}"`}${opensWindow === true && html` target="_blank"`}>
${formToken !== undefined && hiddenField('form_token', formToken)}
${content}
</form>`
}

/** A paragraph that says how something went. A fault takes the focus, for it may stand far down the page. */
export const notice = (tone: 'note' | 'good' | 'fault', words: string): Html =>
  tone === 'fault'
    ? html`<p class="fault" role="alert" tabindex="-1" autofocus>${words}</p>`
    : html`<p class="${tone}" role="status">${words}</p>`
