/** The words of navigation, which a site adds beside those of its sections. */
import type { Day, SiteLang } from '../content/content.ts'

export type Signs = {
  menu: string
  more: string
  close: string
  index: string
  /** The rest of a list of facts. */
  moreFacts: string
  nextPage: string
  onThisPage: string
  languages: string
  call: string
  watch: string
  /** Who will see the visitor. */
  watchedBy: (company: string) => string
  /** The plain link to the video's own page. */
  watchAt: (company: string) => string
  pause: string
  closed: string
  /** Between two days. */
  to: string
  days: Readonly<Record<Day, string>>
  date: (year: number, month: number, day: number) => string
  phone: string
  address: string
  map: string
  book: string
  hours: string
  until: string
  /** All seven days. */
  daily: string
  /** Between a name and what is said of it. */
  colon: string
}

const months = (words: string) => words.split(' ')
const EN_MONTHS = months('Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec')
const ES_MONTHS = months('ene feb mar abr may jun jul ago sep oct nov dic')
const han = (year: number, month: number, day: number) => `${year}年${month}月${day}日`
const weekOf = (words: string): Record<Day, string> => {
  const [mon = '', tue = '', wed = '', thu = '', fri = '', sat = '', sun = ''] = words.split(' ')
  return { mon, tue, wed, thu, fri, sat, sun }
}

/** Source: rules/site.md#languages. */
export const SIGNS: Record<SiteLang, Signs> = {
  en: {
    menu: 'Menu',
    more: 'More',
    close: 'Close',
    index: 'Index',
    moreFacts: 'All details',
    nextPage: 'Next',
    onThisPage: 'On this page',
    languages: 'Languages',
    call: 'Call',
    watch: 'Watch',
    watchedBy: (company) => `Plays from ${company}, which will see your visit once you press it.`,
    watchAt: (company) => `Watch at ${company}`,
    pause: 'Pause',
    closed: 'Closed',
    to: '–',
    days: weekOf('Mon Tue Wed Thu Fri Sat Sun'),
    date: (year, month, day) => `${day} ${EN_MONTHS[month - 1]} ${year}`,
    phone: 'Phone',
    address: 'Address',
    map: 'Map',
    book: 'Book',
    hours: 'Opening hours',
    until: 'until',
    daily: 'Every day',
    colon: ': ',
  },
  es: {
    menu: 'Menú',
    more: 'Más',
    close: 'Cerrar',
    index: 'Índice',
    moreFacts: 'Todos los detalles',
    nextPage: 'Siguiente',
    onThisPage: 'En esta página',
    languages: 'Idiomas',
    call: 'Llamar',
    watch: 'Ver',
    watchedBy: (company) => `Se carga desde ${company}, que verá la visita al pulsar.`,
    watchAt: (company) => `Ver en ${company}`,
    pause: 'Pausa',
    closed: 'Cerrado',
    to: '–',
    days: weekOf('lun mar mié jue vie sáb dom'),
    date: (year, month, day) => `${day} ${ES_MONTHS[month - 1]} ${year}`,
    phone: 'Teléfono',
    address: 'Dirección',
    map: 'Mapa',
    book: 'Reservar',
    hours: 'Horario',
    until: 'hasta',
    daily: 'todos los días',
    colon: ': ',
  },
  'zh-Hant': {
    menu: '選單',
    more: '更多',
    close: '關閉',
    index: '目錄',
    moreFacts: '全部規格',
    nextPage: '下一頁',
    onThisPage: '本頁內容',
    languages: '語言',
    call: '來電',
    watch: '播放影片',
    watchedBy: (company) => `點按後由 ${company} 播放，該公司會得知您的造訪。`,
    watchAt: (company) => `在 ${company} 觀看`,
    pause: '暫停',
    closed: '公休',
    to: '至',
    days: weekOf('週一 週二 週三 週四 週五 週六 週日'),
    date: han,
    phone: '電話',
    address: '地址',
    map: '地圖',
    book: '預約',
    hours: '營業時間',
    until: '截止',
    daily: '每天',
    colon: '：',
  },
  'zh-Hans': {
    menu: '菜单',
    more: '更多',
    close: '关闭',
    index: '目录',
    moreFacts: '全部参数',
    nextPage: '下一页',
    onThisPage: '本页内容',
    languages: '语言',
    call: '来电',
    watch: '播放视频',
    watchedBy: (company) => `点击后由 ${company} 播放，该公司会获知您的访问。`,
    watchAt: (company) => `在 ${company} 观看`,
    pause: '暂停',
    closed: '休息',
    to: '至',
    days: weekOf('周一 周二 周三 周四 周五 周六 周日'),
    date: han,
    phone: '电话',
    address: '地址',
    map: '地图',
    book: '预约',
    hours: '营业时间',
    until: '截止',
    daily: '每天',
    colon: '：',
  },
}
