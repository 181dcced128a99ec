/** The fields of a form that a page of ours sent. */
import { Problem } from '../problem.ts'

/**
 * The largest is a page of remarks, percent-encoded. What a form costs to read depends on its signs and not on its route: a megabyte of `&`
 * held up everybody for 30 ms.
 */
export const FORM_MAX_BYTES = 262_144

/** Fields of application/x-www-form-urlencoded (WHATWG URL section 5). An absent form has none. @throws Problem BODY_TOO_LARGE */
export const fieldsOf = (form: Buffer | undefined): URLSearchParams => {
  if (form && form.length > FORM_MAX_BYTES)
    throw new Problem('BODY_TOO_LARGE', `The form is larger than a page sends (${FORM_MAX_BYTES} bytes).`)
  return new URLSearchParams(form?.toString('utf8'))
}
