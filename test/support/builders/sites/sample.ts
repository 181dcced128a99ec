/** Two websites with real words, for tests and benches. */
import type { Content, Layout, SiteLang, Template } from '../../../../crds/site/content/content.ts'

type Words = Pick<Content, 'hero' | 'products' | 'gallery' | 'testimonials' | 'featureRows' | 'pricing' | 'contact'> & {
  company: string
}

const EN: Words = {
  company: 'Voss Ceramics',
  hero: {
    title: 'Stoneware for every day, thrown by hand',
    lede: 'A workshop of three in Porto. Every piece is thrown, glazed and fired here, and made to be used rather than kept behind glass.',
    chips: ['Since 1978', 'Lead-free glazes', 'Ships across Europe'],
    image: 'asset:hero',
    alt: 'A tall vase on a wooden table in morning light',
  },
  products: [
    {
      name: 'Water jug',
      image: 'asset:p1',
      price: '€68',
      priceWas: '€82',
      tag: 'Last pieces',
      link: 'https://shop.example/jug',
      specs: ['Height: 24 cm', 'Holds: 1.2 l', 'Dishwasher safe'],
      options: [{ name: 'Glaze', values: ['Salt', 'Iron', 'Celadon'] }],
    },
    { name: 'Breakfast bowl', image: 'asset:p2', price: '€26', specs: ['Diameter: 16 cm', 'Oven safe to 220 °C'] },
    { name: 'Serving dish, large', image: 'asset:p3', price: '€94', specs: ['Diameter: 38 cm'], tag: 'New' },
    { name: 'Espresso cup', image: 'asset:p4', price: '€18', specs: ['Holds: 80 ml', 'Set of two: €34'] },
    { name: 'Bud vase', image: 'asset:p5', price: '€31' },
    { name: 'Salt cellar with a lid', image: 'asset:p6', price: '€39', link: 'https://shop.example/salt' },
  ],
  gallery: [
    { image: 'asset:p7', caption: 'The second firing, at 1,240 °C', alt: 'A glowing kiln seen through its spyhole' },
    { image: 'asset:p2', caption: 'Bowls waiting for their glaze', alt: 'Unglazed bowls on a board' },
    { image: 'asset:p3', alt: 'A dish under a north window', link: 'https://voss.example/dish' },
    { image: 'asset:p1', caption: 'Iron glaze, run thick on purpose', alt: 'Close view of a dark glaze' },
    { image: 'asset:p5', caption: 'Rua do Almada, 2026', alt: 'The front of the workshop' },
  ],
  featureRows: [
    {
      title: 'Clay from forty kilometres away',
      text: 'We dig it with the brickmakers of Águeda, who have known the seam for a century, and let it rest for a winter before it is thrown.',
      image: 'asset:p4',
    },
    {
      title: 'Mended, not replaced',
      text: 'Send back what broke. If it can be mended we mend it with urushi lacquer; if it cannot, the shards go into the next body.',
      image: 'asset:p6',
    },
  ],
  pricing: [
    { name: 'One evening', price: '€45', features: ['Two hours at the wheel', 'Clay and one firing', 'Tea'] },
    {
      name: 'Six weeks',
      price: '€240',
      features: ['Wednesdays, 19–21 h', 'All clay and glazes', 'Four pieces fired twice', 'A shelf of your own'],
      cta: 'Reserve a wheel',
    },
    { name: 'A private day', price: '€380', features: ['Up to four people', 'Lunch from the bakery next door'] },
  ],
  testimonials: [
    {
      quote: 'We have served on nothing else for six years. Two bowls broke, and both came back with a seam of gold.',
      name: 'Inês Cardoso',
      role: 'Taberna do Largo, Porto',
    },
    {
      quote: 'The jug pours without a drip. You would be surprised how rare that is.',
      name: 'Tom Ahlberg',
      role: 'Stockholm',
    },
    { quote: 'Ordered twelve cups, got thirteen. “One always wants to come along,” said the note.', name: 'Marie L.' },
  ],
  contact: {
    email: 'atelier@voss.example',
    websiteUrl: 'https://journal.voss.example/',
    chat: 'https://wa.me/351220000000',
    social: [
      { platform: 'Instagram', url: 'https://instagram.example/voss' },
      { platform: 'Pinterest', url: 'https://pinterest.example/voss' },
    ],
  },
}

const ZH: Words = {
  company: '山間陶房',
  hero: {
    title: '每天都想拿起來用的器皿',
    lede: '陽明山上的三人工作室。每一件都在這裡拉坯、上釉、燒成，是為了使用而做，不是為了收進櫃子裡。',
    chips: ['始於一九七八年', '無鉛釉藥', '台灣全島配送'],
    image: 'asset:hero',
    alt: '晨光中木桌上的高瓶',
  },
  products: [
    {
      name: '鐵釉水壺',
      image: 'asset:p1',
      price: 'NT$2,380',
      priceWas: 'NT$2,880',
      tag: '最後三件',
      link: 'https://shop.example/jug',
      specs: ['高度：24 公分', '容量：1.2 公升', '可用洗碗機清洗'],
      options: [{ name: '釉色', values: ['鹽釉', '鐵釉', '青瓷'] }],
    },
    { name: '早餐碗', image: 'asset:p2', price: 'NT$880', specs: ['直徑：16 公分'] },
    { name: '大盤', image: 'asset:p3', price: 'NT$3,200', tag: '新品' },
    { name: '濃縮咖啡杯', image: 'asset:p4', price: 'NT$620' },
  ],
  gallery: [
    { image: 'asset:p7', caption: '第二次燒成，一千二百四十度', alt: '從窺孔看見的窯火' },
    { image: 'asset:p2', caption: '等待上釉的碗', alt: '木板上的素坯' },
    { image: 'asset:p3', alt: '北窗下的大盤' },
  ],
  featureRows: [
    { title: '四十公里內的土', text: '與磚廠一起挖土，靜置一整個冬天再拉坯。', image: 'asset:p4' },
    { title: '修補，而非丟棄', text: '摔破的請寄回來。能補的，我們以漆和金補好。', image: 'asset:p6' },
  ],
  pricing: [
    { name: '一個晚上', price: 'NT$1,500', features: ['拉坯兩小時', '含土與一次燒成'] },
    { name: '六週課程', price: 'NT$8,000', features: ['每週三晚上', '四件作品燒兩次'], cta: '預約轆轤' },
  ],
  testimonials: [
    { quote: '六年來我們只用這些器皿。摔破兩個碗，回來時都多了一道金線。', name: '林小姐', role: '台北，小酒館主人' },
  ],
  contact: {
    email: 'hello@shan.example',
    chat: 'https://line.me/ti/p/shan',
    social: [{ platform: 'Instagram', url: 'https://instagram.example/shan' }],
  },
}

/** A whole website in English or Chinese, on one page. */
export const sampleContent = (lang: SiteLang, layout: Layout, template: Template): Content => {
  const { company, ...sections } = lang === 'zh-Hant' || lang === 'zh-Hans' ? ZH : EN
  return { meta: { companyName: company, lang, layout, template }, ...sections }
}
