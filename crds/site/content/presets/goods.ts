/** Trades that sell goods over a counter: electronics and the shop around the corner. */
import type { TradePreset } from './preset.ts'

export const ELECTRONICS: TradePreset = {
  description: 'Devices with their specifications, bundles, and a demonstration.',
  template: 'voltage',
  layout: 'showcase',
  order: ['hero', 'products', 'feature_rows', 'pricing', 'testimonials', 'faq', 'contact'],
  words: {
    en: {
      labels: {
        sections: { products: 'Models', pricing: 'Bundles' },
        actions: { hero: 'Book a demo', ask: 'Ask about this model' },
        specs: 'Specifications',
      },
      contact: { text: 'Say which model it is about, and what it is to be connected to.' },
    },
    es: {
      labels: {
        sections: { products: 'Modelos', pricing: 'Packs' },
        actions: { hero: 'Pedir una prueba', ask: 'Consultar este modelo' },
        specs: 'Ficha técnica',
      },
      contact: { text: 'Conviene indicar el modelo y con qué se va a conectar.' },
    },
    'zh-Hans': {
      labels: {
        sections: { products: '产品型号', pricing: '套装' },
        actions: { hero: '预约体验', ask: '咨询此型号' },
        specs: '技术参数',
      },
      contact: { text: '请注明型号，以及需要连接的设备。' },
    },
    'zh-Hant': {
      labels: {
        sections: { products: '產品型號', pricing: '套組' },
        actions: { hero: '預約體驗', ask: '詢問此型號' },
        specs: '技術規格',
      },
      contact: { text: '請註明型號，以及需要連接的設備。' },
    },
  },
}

export const SHOP: TradePreset = {
  description: 'A shop around the corner: what is on the shelf, when to come, where it is.',
  template: 'market',
  layout: 'showcase',
  order: ['hero', 'products', 'hours', 'testimonials', 'contact'],
  words: {
    en: {
      labels: {
        sections: { products: 'On the shelf', hours: 'When to come', contact: 'Where we are' },
        actions: { hero: 'Visit the shop', ask: 'Is it in stock?' },
      },
      contact: { text: 'Ask before you come if you need something in particular: we put it aside.' },
    },
    es: {
      labels: {
        sections: { products: 'En la tienda', hours: 'Horario', contact: 'Dónde estamos' },
        actions: { hero: 'Visitar la tienda', ask: '¿Queda en tienda?' },
      },
      contact: { text: 'Si hace falta algo en concreto, mejor preguntar antes de venir: lo apartamos.' },
    },
    'zh-Hans': {
      labels: {
        sections: { products: '店内商品', hours: '营业时间', contact: '门店地址' },
        actions: { hero: '到店选购', ask: '询问库存' },
      },
      contact: { text: '如需特定商品，来店前可先询问，我们为您预留。' },
    },
    'zh-Hant': {
      labels: {
        sections: { products: '店內商品', hours: '營業時間', contact: '門市地址' },
        actions: { hero: '到店選購', ask: '詢問庫存' },
      },
      contact: { text: '如需特定商品，來店前可先詢問，我們為您保留。' },
    },
  },
}
