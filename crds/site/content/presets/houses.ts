/** Trades that one visits or hires: restaurant, studio, practice. */
import type { TradePreset } from './preset.ts'

export const RESTAURANT: TradePreset = {
  description: 'A restaurant: the menu, set menus, hours, the way there, a table.',
  template: 'craft',
  layout: 'classic',
  order: ['hero', 'products', 'pricing', 'gallery', 'hours', 'contact'],
  words: {
    en: {
      labels: {
        sections: { products: 'Menu', pricing: 'Set menus', hours: 'Opening hours', contact: 'Find us' },
        actions: { hero: 'Book a table' },
      },
      contact: { text: 'Tell us of allergies when you book: the kitchen will see to it.' },
    },
    es: {
      labels: {
        sections: { products: 'Carta', pricing: 'Menús', hours: 'Horario', contact: 'Cómo llegar' },
        actions: { hero: 'Reservar mesa' },
      },
      contact: { text: 'Al reservar, conviene avisar de alergias: la cocina se ocupa.' },
    },
    'zh-Hans': {
      labels: {
        sections: { products: '菜单', pricing: '套餐', hours: '营业时间', contact: '到店路线' },
        actions: { hero: '预订餐位' },
      },
      contact: { text: '如有过敏，请在预订时告知，厨房会妥善安排。' },
    },
    'zh-Hant': {
      labels: {
        sections: { products: '菜單', pricing: '套餐', hours: '營業時間', contact: '交通方式' },
        actions: { hero: '訂位' },
      },
      contact: { text: '如有過敏，請在訂位時告知，廚房會妥善安排。' },
    },
  },
}

export const STUDIO: TradePreset = {
  description: 'A studio: selected work, what it does, who it is.',
  template: 'studio',
  layout: 'monolith',
  order: ['hero', 'gallery', 'services', 'clients', 'team', 'contact'],
  words: {
    en: {
      labels: {
        sections: { gallery: 'Selected work', services: 'What we do', team: 'The studio' },
        actions: { hero: 'Start a project' },
      },
      contact: { text: 'Say what it is for, when it is needed, and what there is already.' },
    },
    es: {
      labels: {
        sections: { gallery: 'Trabajos', services: 'Qué hacemos', team: 'El estudio' },
        actions: { hero: 'Empezar un proyecto' },
      },
      contact: { text: 'Conviene contar para qué es, para cuándo y qué hay ya hecho.' },
    },
    'zh-Hans': {
      labels: {
        sections: { gallery: '精选作品', services: '服务内容', team: '团队' },
        actions: { hero: '开始合作' },
      },
      contact: { text: '请说明用途、时间，以及已有的材料。' },
    },
    'zh-Hant': {
      labels: {
        sections: { gallery: '精選作品', services: '服務內容', team: '團隊' },
        actions: { hero: '開始合作' },
      },
      contact: { text: '請說明用途、時間，以及已有的材料。' },
    },
  },
}

export const PRACTICE: TradePreset = {
  description: 'A practice of doctors, lawyers or advisers: areas, people, fees, what to know before.',
  template: 'clinic',
  layout: 'sidenav',
  order: ['hero', 'services', 'team', 'pricing', 'faq', 'hours', 'contact'],
  words: {
    en: {
      labels: {
        sections: { services: 'Practice areas', team: 'People', pricing: 'Fees', faq: 'Before you come' },
        actions: { hero: 'Request an appointment' },
      },
      sections: {
        faq: [
          { question: 'What should I bring?', answer: 'An identity document, and papers that concern the matter.' },
          {
            question: 'What if I cannot come?',
            answer: 'Tell us as early as you can, so that somebody else gets the time.',
          },
        ],
      },
    },
    es: {
      labels: {
        sections: { services: 'Especialidades', team: 'Equipo', pricing: 'Honorarios', faq: 'Antes de venir' },
        actions: { hero: 'Pedir cita' },
      },
      sections: {
        faq: [
          { question: '¿Qué hay que traer?', answer: 'Un documento de identidad y los papeles del asunto.' },
          {
            question: '¿Y si no es posible venir?',
            answer: 'Basta con avisar cuanto antes, para dar la hora a otra persona.',
          },
        ],
      },
    },
    'zh-Hans': {
      labels: {
        sections: { services: '服务领域', team: '专业团队', pricing: '收费标准', faq: '来访须知' },
        actions: { hero: '预约咨询' },
      },
      sections: {
        faq: [
          { question: '需要携带什么？', answer: '身份证件，以及与事项有关的文件。' },
          { question: '临时不能前来怎么办？', answer: '请尽早告知，以便将时间让给他人。' },
        ],
      },
    },
    'zh-Hant': {
      labels: {
        sections: { services: '服務領域', team: '專業團隊', pricing: '收費標準', faq: '來訪須知' },
        actions: { hero: '預約諮詢' },
      },
      sections: {
        faq: [
          { question: '需要攜帶什麼？', answer: '身分證件，以及與事項有關的文件。' },
          { question: '臨時不能前來怎麼辦？', answer: '請儘早告知，以便將時間讓給他人。' },
        ],
      },
    },
  },
}
