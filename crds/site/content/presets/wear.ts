/** Trades whose goods are worn: jewelry and fashion. Sizes are conversions that hold everywhere. */
import type { SizeGuide } from '../content.ts'
import type { TradePreset } from './preset.ts'

/** Inner circumference is the size itself. Source: ISO 8653:2016; the diameter is circumference / π, in millimetres. */
const RINGS: SizeGuide['rows'] = [
  { cells: ['49', '15.6', '5'] },
  { cells: ['52', '16.6', '6'] },
  { cells: ['54', '17.2', '7'] },
  { cells: ['57', '18.1', '8'] },
  { cells: ['60', '19.1', '9'] },
  { cells: ['62', '19.7', '10'] },
]

/** Women's sizes as shops of these regions name them beside each other. */
const CLOTHES: SizeGuide['rows'] = [
  { cells: ['XS', '34', '6', '2'] },
  { cells: ['S', '36', '8', '4'] },
  { cells: ['M', '38', '10', '6'] },
  { cells: ['L', '40', '12', '8'] },
  { cells: ['XL', '42', '14', '10'] },
]

export const JEWELRY: TradePreset = {
  description: 'A maker of jewelry: pieces, the bench, ring sizes, an appointment.',
  template: 'lumen',
  layout: 'atelier',
  order: ['hero', 'products', 'gallery', 'steps', 'size_guide', 'testimonials', 'contact'],
  words: {
    en: {
      labels: {
        sections: { products: 'Pieces', steps: 'At the bench', sizeGuide: 'Ring sizes' },
        actions: { hero: 'Make an appointment', ask: 'Ask about this piece' },
      },
      sections: {
        steps: [
          { title: 'Drawn', text: 'A piece begins with a conversation and a drawing.' },
          { title: 'Made', text: 'The metal is worked at the bench, by hand.' },
          { title: 'Worn', text: 'It is fitted, and looked after for as long as it is worn.' },
        ],
        sizeGuide: {
          columns: ['Circumference, mm', 'Diameter, mm', 'US'],
          rows: RINGS,
          note: 'Measure a ring that fits across its inside, or a finger in the evening, when it is warm.',
        },
      },
    },
    es: {
      labels: {
        sections: { products: 'Piezas', steps: 'En el taller', sizeGuide: 'Tallas de anillo' },
        actions: { hero: 'Pedir cita', ask: 'Preguntar por esta pieza' },
      },
      sections: {
        steps: [
          { title: 'Dibujar', text: 'Toda pieza empieza con una conversación y un dibujo.' },
          { title: 'Hacer', text: 'El metal se trabaja en la mesa, a mano.' },
          { title: 'Llevar', text: 'Se ajusta a la medida y se cuida mientras se lleva.' },
        ],
        sizeGuide: {
          columns: ['Contorno, mm', 'Diámetro, mm', 'EE. UU.'],
          rows: RINGS,
          note: 'Medir por dentro un anillo que quede bien, o el dedo por la tarde, cuando está templado.',
        },
      },
    },
    'zh-Hans': {
      labels: {
        sections: { products: '作品', steps: '工坊流程', sizeGuide: '戒指尺码' },
        actions: { hero: '预约到店', ask: '咨询这件作品' },
      },
      sections: {
        steps: [
          { title: '起稿', text: '每件作品从一次交谈和一张草图开始。' },
          { title: '制作', text: '金属在工作台上以手工成形。' },
          { title: '佩戴', text: '按尺寸调整，佩戴期间持续保养。' },
        ],
        sizeGuide: {
          columns: ['内周长（毫米）', '内径（毫米）', '美码'],
          rows: RINGS,
          note: '可测量合适戒指的内径，或在傍晚手指温暖时测量指围。',
        },
      },
    },
    'zh-Hant': {
      labels: {
        sections: { products: '作品', steps: '工坊流程', sizeGuide: '戒圍對照' },
        actions: { hero: '預約來店', ask: '詢問這件作品' },
      },
      sections: {
        steps: [
          { title: '起稿', text: '每件作品從一次交談和一張草圖開始。' },
          { title: '製作', text: '金屬在工作桌上以手工成形。' },
          { title: '配戴', text: '依尺寸調整，配戴期間持續保養。' },
        ],
        sizeGuide: {
          columns: ['內圍（公釐）', '內徑（公釐）', '美規'],
          rows: RINGS,
          note: '可測量合適戒指的內徑，或在傍晚手指溫暖時測量指圍。',
        },
      },
    },
  },
}

const clothes = (columns: string[], note: string) => ({ sizeGuide: { columns, rows: CLOTHES, note } })

export const FASHION: TradePreset = {
  description: 'A fashion label: the collection, a lookbook, sizes.',
  template: 'runway',
  layout: 'editorial',
  order: ['hero', 'products', 'gallery', 'size_guide', 'testimonials', 'contact'],
  words: {
    en: {
      labels: {
        sections: { products: 'Collection', gallery: 'Lookbook', sizeGuide: 'Sizes' },
        actions: { hero: 'See the collection', ask: 'Ask about size' },
      },
      sections: clothes(['Size', 'EU', 'UK', 'US'], 'Between two sizes, ask: every cut falls its own way.'),
    },
    es: {
      labels: {
        sections: { products: 'Colección', gallery: 'Lookbook', sizeGuide: 'Guía de tallas' },
        actions: { hero: 'Ver la colección', ask: 'Consultar talla' },
      },
      sections: clothes(
        ['Talla', 'UE', 'RU', 'EE. UU.'],
        'Entre dos tallas, mejor consultar: cada corte cae a su manera.',
      ),
    },
    'zh-Hans': {
      labels: {
        sections: { products: '本季系列', gallery: '造型图集', sizeGuide: '尺码指南' },
        actions: { hero: '浏览系列', ask: '咨询尺码' },
      },
      sections: clothes(['尺码', '欧码', '英码', '美码'], '介于两码之间时请先咨询，不同剪裁的落感各异。'),
    },
    'zh-Hant': {
      labels: {
        sections: { products: '本季系列', gallery: '造型圖集', sizeGuide: '尺寸指南' },
        actions: { hero: '瀏覽系列', ask: '詢問尺寸' },
      },
      sections: clothes(['尺寸', '歐規', '英規', '美規'], '介於兩個尺寸之間時請先詢問，不同剪裁的落感各異。'),
    },
  },
}
