/** subset-font 2.9 ships no types; what we use of it. */
declare module 'subset-font' {
  type Options = {
    targetFormat: 'woff2' | 'woff' | 'truetype'
    /** Layout features that stay; all when left out. */
    keepFeatures?: readonly string[]
    noHinting?: boolean
  }
  // biome-ignore lint/style/noDefaultExport: it is what the package exports
  export default function subsetFont(font: Buffer, text: string, options: Options): Promise<Buffer>
}
