/** The ends of texts. A pattern such as `=+$` begins anew at each sign of a run that does not end the text. */

/** `'abc==', '='` → `'abc'`: a text without this character at its end, however often it stands there. */
export const trimmedEnd = (text: string, char: string): string => {
  let end = text.length
  while (end > 0 && text[end - 1] === char) end--
  return text.slice(0, end)
}
