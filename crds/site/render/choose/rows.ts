/** No hole: how many items stand in each row of a grid. Source: rules/site.md#forms. */

/**
 * Rows of `most` or one less, the shorter first, so that no row ends in a hole: 7 by threes are 2 + 2 + 3.
 * @param most the most items in a row, 1 or more
 */
export const rowsOf = (count: number, most: number): number[] => {
  if (count <= 0) return []
  if (count <= most) return [count]
  const rows = Math.ceil(count / most)
  const short = rows * most - count
  if (short <= rows) return Array.from({ length: rows }, (_, row) => (row < short ? most - 1 : most))
  // five by fours: even rows are the nearest that there is
  const least = Math.floor(count / rows)
  const longer = count - least * rows
  return Array.from({ length: rows }, (_, row) => (row < rows - longer ? least : least + 1))
}

/** Items with the length of their row and their place in it. */
export const placedIn = <T>(
  items: readonly T[],
  most: number,
): { item: T; row: number; length: number; first: boolean }[] =>
  rowsOf(items.length, most)
    .flatMap((length, row) => Array.from({ length }, (_, at) => ({ row, length, first: at === 0 })))
    .flatMap((place, index) => {
      const item = items[index]
      return item === undefined ? [] : [{ item, ...place }]
    })

/** Whether an odd first item lies across where two stand in a row. */
export const firstAcross = (count: number): boolean => count % 2 === 1
