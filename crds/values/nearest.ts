/** Suggestions for misspelt names. */

/** Levenshtein distance, for suggestions over short names only. */
const distance = (a: string, b: string): number => {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const swap = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1)
      next.push(Math.min((next[j - 1] ?? 0) + 1, (row[j] ?? 0) + 1, swap))
    }
    row = next
  }
  return row[b.length] ?? 0
}

/** The nearest known name, if it is near enough to be what was meant. */
export const nearest = (name: string, known: readonly string[]): string | undefined => {
  const lower = name.slice(0, 64).toLowerCase()
  const ranked = known
    .map((candidate) => ({ candidate, far: distance(lower, candidate.toLowerCase()) }))
    .sort((a, b) => a.far - b.far)[0]
  return ranked && ranked.far <= Math.max(2, Math.floor(lower.length / 3)) ? ranked.candidate : undefined
}
