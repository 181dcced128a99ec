/** Videos of YouTube and Vimeo, by the addresses under which people know them (rules/site.md#video). */

/** `embed` is loaded after a click, without cookies; `watch` is the page of the video. */
export type VideoSource = { provider: 'YouTube' | 'Vimeo'; id: string; embed: string; watch: string }

const YOUTUBE_HOSTS = new Set([
  'youtube.com',
  'www.youtube.com',
  'm.youtube.com',
  'youtube-nocookie.com',
  'www.youtube-nocookie.com',
])
const YOUTUBE_ID = /^[A-Za-z0-9_-]{11}$/
const VIMEO_HOSTS = new Set(['vimeo.com', 'www.vimeo.com', 'player.vimeo.com'])
const VIMEO_PATH = /^\/(?:video\/|channels\/[A-Za-z0-9_-]+\/)?([0-9]{6,12})(?:\/([0-9a-f]{6,20}))?\/?$/

const youtubeId = ({ hostname, pathname, searchParams }: URL): string | null => {
  if (hostname === 'youtu.be') return pathname.slice(1)
  if (!YOUTUBE_HOSTS.has(hostname)) return null
  if (pathname === '/watch') return searchParams.get('v')
  return /^\/(?:embed|shorts|live)\/([^/]+)\/?$/.exec(pathname)?.[1] ?? null
}

/** What an address names; null for anything but a video of the two. */
export const videoOf = (address: string): VideoSource | null => {
  const url = URL.parse(address)
  if (url === null || url.protocol !== 'https:' || url.port !== '' || url.username !== '') return null
  const id = youtubeId(url)
  if (id !== null && YOUTUBE_ID.test(id)) {
    const embed = `https://www.youtube-nocookie.com/embed/${id}?autoplay=1`
    return { provider: 'YouTube', id, embed, watch: `https://www.youtube.com/watch?v=${id}` }
  }
  if (!VIMEO_HOSTS.has(url.hostname)) return null
  const [, number, secret] = VIMEO_PATH.exec(url.pathname) ?? []
  if (number === undefined) return null
  // the second number of a video that is not listed
  const hash = secret ?? url.searchParams.get('h')
  const key = hash !== null && /^[0-9a-f]{6,20}$/.test(hash) ? hash : null
  return {
    provider: 'Vimeo',
    id: number,
    embed: `https://player.vimeo.com/video/${number}?dnt=1&autoplay=1${key === null ? '' : `&h=${key}`}`,
    watch: `https://vimeo.com/${number}${key === null ? '' : `/${key}`}`,
  }
}
