/** A grill, a maker of loudspeakers, two goldsmiths and a tea garden, in the words of their owners. */
import type { Content } from '../../../crds/site/content/content.ts'

export const GRILL: Content = {
  meta: { companyName: 'Asador Etxeberri', lang: 'es', layout: 'classic', template: 'craft' },
  hero: {
    title: 'Brasa de encina, pescado de lonja y tiempo',
    lede: 'Cocinamos al fuego desde 1974 en el valle de Oiartzun. Abrimos de jueves a domingo y cerramos cuando se acaba el pescado.',
    chips: ['Desde 1974', 'Brasa de encina', 'Terraza cubierta'],
    image: 'asset:w1',
    alt: 'Parrilla',
  },
  products: [
    { name: 'Anchoas a la brasa', price: '14 €', collection: 'Entrantes', image: 'asset:p1' },
    { name: 'Setas con yema', price: '16 €', collection: 'Entrantes', image: 'asset:p2' },
    { name: 'Croquetas de jamón', price: '11 €', collection: 'Entrantes', image: 'asset:p3' },
    { name: 'Tomate de la huerta', price: '12 €', collection: 'Entrantes', image: 'asset:p4' },
    { name: 'Rodaballo entero para dos', price: '68 €', collection: 'Pescados', tag: 'Según lonja' },
    { name: 'Besugo de Orio', price: '54 €', collection: 'Pescados' },
    { name: 'Kokotxas al pil-pil', price: '32 €', collection: 'Pescados' },
    { name: 'Merluza frita', price: '26 €', collection: 'Pescados' },
    { name: 'Chuleta de vaca vieja', price: '62 €/kg', collection: 'Carnes', image: 'asset:p5' },
    { name: 'Cordero lechal', price: '34 €', collection: 'Carnes' },
    { name: 'Pichón asado', price: '29 €', collection: 'Carnes' },
    { name: 'Torrija caramelizada', price: '8 €', collection: 'Postres' },
    { name: 'Queso Idiazábal y membrillo', price: '9 €', collection: 'Postres' },
    { name: 'Helado de leche de oveja', price: '7 €', collection: 'Postres' },
  ],
  pricing: [
    {
      name: 'Menú del valle',
      price: '38 €',
      features: ['Tres entrantes al centro', 'Pescado o carne', 'Postre y café'],
    },
    {
      name: 'Menú de brasa',
      price: '54 €',
      features: ['Cuatro entrantes', 'Rodaballo para compartir', 'Chuleta', 'Postre'],
      cta: 'Reservar mesa',
    },
  ],
  testimonials: [
    {
      quote: 'El rodaballo llegó entero, con la piel como cristal. Volvimos al día siguiente a por el besugo.',
      name: 'Ainhoa Lasa',
      role: 'Donostia',
    },
    { quote: 'Comida de verdad, sin discurso.', name: 'J. Ferrer' },
  ],
  hours: {
    weekly: [
      { days: ['thu', 'fri', 'sat'], opens: '13:00', closes: '16:00' },
      { days: ['thu', 'fri', 'sat'], opens: '20:30', closes: '23:00' },
      { days: ['sun'], opens: '13:00', closes: '16:30' },
      { days: ['mon', 'tue', 'wed'] },
    ],
    note: 'Cerramos en agosto',
  },
  badges: [{ label: 'Guía Repsol 2026' }, { label: 'Kilómetro cero' }, { label: 'Euskal Sukaldaritza' }],
  ctaBanner: { title: 'Una mesa junto a la brasa', link: 'https://book.example/', label: 'Reservar mesa' },
  labels: {
    sections: { products: 'Carta', pricing: 'Menús', contact: 'Cómo llegar', testimonials: 'Dicen en la mesa' },
    actions: { hero: 'Reservar mesa', more: 'Ver la carta', contact: 'Reservar' },
  },
  legal: {
    name: 'Etxeberri Hostelería S.L.',
    lines: ['NIF B-00000000'],
    links: [{ label: 'Aviso legal', url: 'https://x.example/l' }],
  },
  contact: {
    phone: '+34 943 000 000',
    address: { street: 'Barrio Ergoien 12', postalCode: '20180', locality: 'Oiartzun' },
    mapUrl: 'https://maps.example/x',
    booking: 'https://book.example/',
    email: 'reservas@etxeberri.example',
    chat: 'https://wa.me/34600000000',
    social: [{ platform: 'Instagram', url: 'https://instagram.example/x' }],
  },
}

export const AUDIO: Content = {
  meta: { companyName: '静声音响', lang: 'zh-Hans', layout: 'showcase', template: 'voltage' },
  hero: {
    title: '听见房间消失之后的声音',
    lede: '在苏州设计与组装的有源音箱。每一对都在消声室里逐一校准，附上自己的频响曲线。',
    chips: ['十年保修', '七天试听'],
  },
  products: [
    {
      name: '静声 S1 书架箱',
      image: 'asset:p1',
      price: '¥6,980',
      collection: '书架箱',
      specs: [
        '频响：38 Hz – 40 kHz',
        '功率：2 × 120 W',
        '低音单元：165 毫米',
        '尺寸：210 × 340 × 260 毫米',
        '重量：9.2 公斤',
        '输入：XLR、RCA、光纤',
      ],
      tag: '新品',
    },
    {
      name: '静声 S2 书架箱',
      image: 'asset:p2',
      price: '¥9,800',
      collection: '书架箱',
      specs: ['频响：32 Hz – 40 kHz', '功率：2 × 180 W', '低音单元：200 毫米', '重量：12.6 公斤'],
    },
    {
      name: '静声 T5 落地箱',
      image: 'asset:p3',
      price: '¥26,800',
      collection: '落地箱',
      specs: ['频响：24 Hz – 40 kHz', '功率：2 × 300 W'],
    },
    {
      name: '静声 T7 落地箱',
      image: 'asset:p4',
      price: '¥39,800',
      priceWas: '¥42,800',
      collection: '落地箱',
      specs: ['频响：20 Hz – 40 kHz', '功率：2 × 500 W'],
    },
    {
      name: '静声 T9 落地箱',
      image: 'asset:p6',
      price: '¥59,800',
      collection: '落地箱',
      specs: ['频响：18 Hz – 40 kHz', '功率：2 × 800 W'],
    },
  ],
  featureRows: [
    { title: '逐只校准', text: '每只单元测量三次，配对误差小于零点三分贝。', image: 'asset:w2' },
    { title: '可以修', text: '所有零件供应二十年，拆装只需一把螺丝刀。', image: 'asset:w3' },
  ],
  pricing: [
    { name: '桌面套装', price: '¥7,680', features: ['S1 一对', '桌面支架', '线材'] },
    { name: '客厅套装', price: '¥12,800', features: ['S2 一对', '落地脚架', '上门摆位'] },
    { name: '影院套装', price: '¥68,000', features: ['T7 一对', '低音炮', '声学测量', '上门校准'] },
  ],
  testimonials: [
    { quote: '关上灯，歌手就站在两只箱子中间。', name: '陈先生', role: '上海' },
    { quote: '客服直接把我房间的测量结果画成图。', name: '李女士' },
    { quote: '说明书写得比产品还好。', name: '阿凯' },
  ],
  faq: [
    { question: '可以试听吗？', answer: '苏州展厅预约试听，七天内可退。' },
    { question: '保修多久？', answer: '十年。' },
    { question: '需要功放吗？', answer: '不需要，音箱内置功放。' },
    { question: '支持海外电压吗？', answer: '支持。' },
  ],
  marquee: { items: ['消声室校准', '十年保修', '七天试听', '全国联保', '自主设计'] },
  announcement: { text: '新品 T9 即日起预约试听', link: 'https://x.example/' },
  contact: { phone: '+86 512 0000 0000', email: 'hello@jingsheng.example', chat: 'https://u.wechat.com/x' },
}

/** Laid over the first language: parts of a translation have no type of their own. */
const IN_SPANISH = {
  lang: 'es' as const,
  hero: { title: 'Anillos hechos despacio, para una sola mano', lede: 'Dos orfebres en un patio de Gante.' },
}

export const JEWEL: Content = {
  meta: { companyName: 'Maren & Holt', lang: 'en', layout: 'atelier', template: 'lumen' },
  translations: [IN_SPANISH],
  hero: {
    title: 'Rings made slowly, for one hand at a time',
    lede: 'Two goldsmiths in a courtyard in Ghent. We work in recycled gold and old stones.',
    chips: ['Bench no. 2, May'],
    image: 'asset:t1',
    alt: 'A ring',
  },
  gallery: [
    { image: 'asset:p1', caption: 'Signet, 18 ct', alt: 'a' },
    { image: 'asset:t2', caption: 'Old-cut diamond, 1890', alt: 'b' },
    { image: 'asset:p3', alt: 'c' },
    { image: 'asset:t3', alt: 'd' },
  ],
  products: [
    { name: 'Tide ring', image: 'asset:p1', price: '€1,840', specs: ['Recycled 18 ct gold', 'Width: 3 mm'] },
    { name: 'Seed earrings', image: 'asset:p2', price: '€620' },
    { name: 'Harbour signet', image: 'asset:p3', price: '€2,300' },
    { name: 'Thread necklace', image: 'asset:p4', price: '€980' },
  ],
  featureRows: [
    {
      title: 'We draw it first',
      text: 'On paper, at your table or ours, until the line is right.',
      image: 'asset:w1',
    },
    { title: 'Then wax, then gold', text: 'You can come and try the wax.', image: 'asset:w2' },
  ],
  testimonials: [{ quote: 'They talked us out of a bigger stone, and they were right.', name: 'Elke and Tom' }],
  steps: [
    { title: 'Draw', text: 'On paper.' },
    { title: 'Wax', text: 'You try it on.' },
    { title: 'Cast', text: 'Recycled gold.' },
  ],
  sizeGuide: {
    columns: ['Size', 'EU', 'US', 'mm'],
    rows: [
      { cells: ['S', '50', '5¼', '15.9'] },
      { cells: ['M', '54', '7', '17.2'] },
      { cells: ['L', '58', '8½', '18.5'] },
    ],
    note: 'Measure in the evening.',
  },
  ctaBanner: { title: 'Come and see us at the bench', link: 'https://book.example', label: 'Make an appointment' },
  contact: {
    email: 'bench@marenholt.example',
    social: [{ platform: 'Instagram', url: 'https://instagram.example/x' }],
  },
}

export const TEA: Content = {
  meta: {
    companyName: '霧裡茶園',
    lang: 'zh-Hant',
    layout: 'narrative',
    template: 'garden',
    pages: [
      { slug: '', title: '茶園', sections: ['hero', 'feature_rows', 'testimonials', 'gallery', 'contact'] },
      { slug: 'tea', title: '茶葉', sections: ['products', 'contact'] },
      { slug: 'stay', title: '住宿', sections: ['pricing', 'contact'] },
    ],
  },
  hero: {
    title: '霧散之前，先喝一杯',
    lede: '坪林山上三代茶農。春天採茶，冬天修枝，其餘的日子等雨。',
    chips: ['海拔八百公尺', '自然農法'],
    image: 'asset:w1',
    alt: '茶園',
  },
  featureRows: [
    {
      title: '一心二葉',
      text: '清明前後十天，全家在五點前上山。只採一心二葉，每人每天不到兩公斤。',
      image: 'asset:w2',
    },
    { title: '日光萎凋', text: '鋪在竹篩上，聞到蘋果香就收。沒有機器能替我們聞。', image: 'asset:w3' },
    { title: '炭焙', text: '龍眼木炭，三天三夜，祖父的焙籠。', image: 'asset:t1' },
  ],
  testimonials: [{ quote: '住了一晚，回家後把手機關掉一整個週末。', name: '林小姐', role: '台北' }],
  gallery: [
    { image: 'asset:w1', alt: 'a' },
    { image: 'asset:w2', alt: 'b' },
    { image: 'asset:t1', alt: 'c' },
    { image: 'asset:t2', alt: 'd' },
    { image: 'asset:w3', alt: 'e', caption: '雨後的茶寮' },
  ],
  products: [
    { name: '文山包種', image: 'asset:p1', price: 'NT$800' },
    { name: '東方美人', image: 'asset:p2', price: 'NT$1,600' },
    { name: '蜜香紅茶', image: 'asset:p3', price: 'NT$700' },
  ],
  pricing: [
    { name: '霧室', price: 'NT$4,800', features: ['雙人房', '早餐與茶席'] },
    { name: '雨室', price: 'NT$6,200', features: ['四人房', '早餐與茶席', '私人茶寮'] },
  ],
  contact: {
    email: 'stay@wuli.example',
    chat: 'https://line.me/ti/p/x',
    social: [{ platform: 'Instagram', url: 'https://instagram.example/x' }],
  },
}
