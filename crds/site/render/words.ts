/** The words that a site itself adds, in its four languages. */
import { type Content, keyOf, type SectionId, type SiteLang } from '../content/content.ts'
import { SECTIONS } from '../content/meta.ts'

export type SiteWords = {
  /** `lang` for Open Graph, as en_GB. */
  locale: string
  skip: string
  navigation: string
  sections: Record<Exclude<SectionId, 'hero'>, string>
  /** The first call to action; null where it is the way to get in touch. */
  heroAction: string | null
  /** The second one, to what there is to see; null where `see` says it. */
  moreAction: string | null
  /** The button of the banner. */
  start: string
  book: string
  getInTouch: string
  see: Record<'products' | 'gallery' | 'pricing', string>
  view: string
  ask: string
  askSubject: (name: string) => string
  choose: string
  priceNow: string
  priceWas: string
  options: string
  specs: string
  empty: string
  email: string
  website: string
  chat: string
  elsewhere: string
  pages: string
  previous: string
  next: string
  pageOf: (part: number, parts: number) => string
  top: string
  notFound: { title: string; text: string; home: string }
}

const EN: SiteWords = {
  locale: 'en_GB',
  skip: 'Skip to the content',
  navigation: 'Pages',
  sections: {
    products: 'Products',
    gallery: 'Gallery',
    testimonials: 'In their words',
    feature_rows: 'Highlights',
    pricing: 'Pricing',
    badges: 'Good to know',
    marquee: 'At a glance',
    services: 'Services',
    steps: 'How it works',
    video: 'Video',
    size_guide: 'Size guide',
    clients: 'Clients',
    team: 'People',
    text: 'About',
    faq: 'Questions and answers',
    hours: 'Opening hours',
    cta_banner: 'Start here',
    contact: 'Contact',
  },
  heroAction: null,
  moreAction: null,
  start: 'Start',
  book: 'Book',
  getInTouch: 'Get in touch',
  see: { products: 'See the products', gallery: 'See the gallery', pricing: 'See the prices' },
  view: 'View',
  ask: 'Ask about it',
  askSubject: (name) => `About ${name}`,
  choose: 'Choose this',
  priceNow: 'Price',
  priceWas: 'Before',
  options: 'Options',
  specs: 'Details',
  empty: 'There is nothing here yet.',
  email: 'Email',
  website: 'Website',
  chat: 'Chat',
  elsewhere: 'Elsewhere',
  pages: 'More pages',
  previous: 'Previous',
  next: 'Next',
  pageOf: (part, parts) => `Page ${part} of ${parts}`,
  top: 'Back to the top',
  notFound: { title: 'This page is not here', text: 'It has moved, or it never was.', home: 'To the first page' },
}

const ES: SiteWords = {
  locale: 'es_ES',
  skip: 'Ir al contenido',
  navigation: 'Páginas',
  sections: {
    products: 'Productos',
    gallery: 'Galería',
    testimonials: 'Lo que dicen',
    feature_rows: 'Lo esencial',
    pricing: 'Tarifas',
    badges: 'Conviene saber',
    marquee: 'De un vistazo',
    services: 'Servicios',
    steps: 'Cómo funciona',
    video: 'Vídeo',
    size_guide: 'Guía de tallas',
    clients: 'Clientes',
    team: 'Equipo',
    text: 'Acerca de',
    faq: 'Preguntas frecuentes',
    hours: 'Horario',
    cta_banner: 'Para empezar',
    contact: 'Contacto',
  },
  heroAction: null,
  moreAction: null,
  start: 'Empezar',
  book: 'Reservar',
  getInTouch: 'Escríbanos',
  see: { products: 'Ver los productos', gallery: 'Ver la galería', pricing: 'Ver las tarifas' },
  view: 'Ver',
  ask: 'Preguntar',
  askSubject: (name) => `Sobre ${name}`,
  choose: 'Elegir',
  priceNow: 'Precio',
  priceWas: 'Antes',
  options: 'Opciones',
  specs: 'Detalles',
  empty: 'Aquí todavía no hay nada.',
  email: 'Correo',
  website: 'Web',
  chat: 'Chat',
  elsewhere: 'También en',
  pages: 'Más páginas',
  previous: 'Anterior',
  next: 'Siguiente',
  pageOf: (part, parts) => `Página ${part} de ${parts}`,
  top: 'Volver arriba',
  notFound: {
    title: 'Esta página no está',
    text: 'Se ha movido o nunca existió.',
    home: 'A la primera página',
  },
}

const ZH_HANT: SiteWords = {
  locale: 'zh_TW',
  skip: '跳到主要內容',
  navigation: '頁面',
  sections: {
    products: '產品',
    gallery: '作品集',
    testimonials: '客戶怎麼說',
    feature_rows: '特色',
    pricing: '價格',
    badges: '資質與認證',
    marquee: '一覽',
    services: '服務內容',
    steps: '流程',
    video: '影片',
    size_guide: '尺寸對照',
    clients: '合作客戶',
    team: '團隊',
    text: '關於我們',
    faq: '常見問題',
    hours: '營業時間',
    cta_banner: '立即開始',
    contact: '聯絡我們',
  },
  heroAction: null,
  moreAction: null,
  start: '開始',
  book: '預約',
  getInTouch: '聯絡我們',
  see: { products: '看看產品', gallery: '看看作品', pricing: '看看價格' },
  view: '查看',
  ask: '詢問此商品',
  askSubject: (name) => `關於「${name}」`,
  choose: '選擇此方案',
  priceNow: '售價',
  priceWas: '原價',
  options: '選項',
  specs: '規格',
  empty: '內容準備中，敬請期待。',
  email: '電子郵件',
  website: '網站',
  chat: '線上對話',
  elsewhere: '其他平台',
  pages: '更多頁面',
  previous: '上一頁',
  next: '下一頁',
  pageOf: (part, parts) => `第 ${part} 頁，共 ${parts} 頁`,
  top: '回到頂端',
  notFound: { title: '找不到這個頁面', text: '它可能已經移走，或從未存在。', home: '回到首頁' },
}

const ZH_HANS: SiteWords = {
  locale: 'zh_CN',
  skip: '跳到主要内容',
  navigation: '页面',
  sections: {
    products: '产品',
    gallery: '作品集',
    testimonials: '客户怎么说',
    feature_rows: '特色',
    pricing: '价格',
    badges: '资质与认证',
    marquee: '一览',
    services: '服务内容',
    steps: '流程',
    video: '视频',
    size_guide: '尺码对照',
    clients: '合作客户',
    team: '团队',
    text: '关于我们',
    faq: '常见问题',
    hours: '营业时间',
    cta_banner: '立即开始',
    contact: '联系我们',
  },
  heroAction: null,
  moreAction: null,
  start: '开始',
  book: '预约',
  getInTouch: '联系我们',
  see: { products: '看看产品', gallery: '看看作品', pricing: '看看价格' },
  view: '查看',
  ask: '咨询此商品',
  askSubject: (name) => `关于“${name}”`,
  choose: '选择此方案',
  priceNow: '售价',
  priceWas: '原价',
  options: '选项',
  specs: '规格',
  empty: '内容准备中，敬请期待。',
  email: '电子邮件',
  website: '网站',
  chat: '在线对话',
  elsewhere: '其他平台',
  pages: '更多页面',
  previous: '上一页',
  next: '下一页',
  pageOf: (part, parts) => `第 ${part} 页，共 ${parts} 页`,
  top: '回到顶端',
  notFound: { title: '找不到这个页面', text: '它可能已经移走，或从未存在。', home: '回到首页' },
}

/** Source: rules/site.md#languages. */
export const WORDS: Record<SiteLang, SiteWords> = { en: EN, es: ES, 'zh-Hant': ZH_HANT, 'zh-Hans': ZH_HANS }

/** The words of a content's language under its labels, which are the caller's or the preset's. */
export const wordsFor = ({ meta, labels }: Pick<Content, 'meta' | 'labels'>): SiteWords => {
  const words = WORDS[meta.lang]
  const { sections: own = {}, actions = {}, specs } = labels ?? {}
  const sections = { ...words.sections }
  for (const section of SECTIONS) {
    const key = keyOf(section)
    if (section !== 'hero' && key !== 'hero') sections[section] = own[key] ?? words.sections[section]
  }
  return {
    ...words,
    sections,
    heroAction: actions.hero ?? words.heroAction,
    moreAction: actions.more ?? words.moreAction,
    start: actions.banner ?? words.start,
    book: actions.book ?? words.book,
    getInTouch: actions.contact ?? words.getInTouch,
    ask: actions.ask ?? words.ask,
    choose: actions.choose ?? words.choose,
    specs: specs ?? words.specs,
  }
}

/** Each language in its own words, as those who read it look for it. */
export const LANG_NAMES: Record<SiteLang, string> = {
  en: 'English',
  es: 'Español',
  'zh-Hant': '繁體中文',
  'zh-Hans': '简体中文',
}
