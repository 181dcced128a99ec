/** linebreak 1.1 ships no types. */
declare module 'linebreak' {
  // biome-ignore lint/style/noDefaultExport: it is what the package exports
  export default class LineBreaker {
    constructor(text: string)
    nextBreak(): { position: number; required: boolean } | null
  }
}
