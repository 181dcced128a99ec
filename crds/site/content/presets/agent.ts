/** An agent's referral card: one person, one link. The link is the caller's `cta_banner.link`. */
import type { TradePreset } from './preset.ts'

export const AGENT: TradePreset = {
  description: 'A referral card: one person, what they help with, and their own link.',
  template: 'ledger',
  layout: 'classic',
  order: ['hero', 'services', 'steps', 'testimonials', 'cta_banner', 'contact'],
  words: {
    en: {
      labels: {
        sections: { services: 'What I help with', steps: 'How it works', testimonials: 'Clients say' },
        actions: { banner: 'Start with my link', contact: 'Talk to me', hero: 'Talk to me' },
      },
      sections: {
        steps: [
          { title: 'We talk', text: 'You say what you need, and ask whatever you want to know.' },
          { title: 'You choose', text: 'You see what there is and what it costs, and decide in your own time.' },
          { title: 'I stay reachable', text: 'When something changes, you write to me and not to a hotline.' },
        ],
      },
    },
    es: {
      labels: {
        sections: { services: 'En qué ayudo', steps: 'Cómo funciona', testimonials: 'Dicen mis clientes' },
        actions: { banner: 'Empezar con mi enlace', contact: 'Hablar conmigo', hero: 'Hablar conmigo' },
      },
      sections: {
        steps: [
          { title: 'Hablar', text: 'Contar qué hace falta y preguntar todo lo que haya que saber.' },
          { title: 'Elegir', text: 'Ver qué opciones hay y cuánto cuestan, y decidir sin prisa.' },
          { title: 'Seguir en contacto', text: 'Si algo cambia, basta con escribirme: sin centralitas.' },
        ],
      },
    },
    'zh-Hans': {
      labels: {
        sections: { services: '服务内容', steps: '办理流程', testimonials: '客户评价' },
        actions: { banner: '用我的专属链接开始', contact: '联系我', hero: '联系我' },
      },
      sections: {
        steps: [
          { title: '先聊需求', text: '说说您的情况，有疑问随时提出。' },
          { title: '自主选择', text: '方案与费用一目了然，由您从容决定。' },
          { title: '持续跟进', text: '情况有变，直接联系我本人。' },
        ],
      },
    },
    'zh-Hant': {
      labels: {
        sections: { services: '服務內容', steps: '辦理流程', testimonials: '客戶評價' },
        actions: { banner: '用我的專屬連結開始', contact: '聯絡我', hero: '聯絡我' },
      },
      sections: {
        steps: [
          { title: '先聊需求', text: '說說您的情況，有疑問隨時提出。' },
          { title: '自主選擇', text: '方案與費用一目了然，由您從容決定。' },
          { title: '持續跟進', text: '情況有變，直接聯絡我本人。' },
        ],
      },
    },
  },
}
