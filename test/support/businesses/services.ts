/** Tax advisers, a studio and a dental clinic, in the words of their owners. */
import type { Content } from '../../../crds/site/content/content.ts'

export const LAW: Content = {
  meta: {
    companyName: 'Okafor Lindqvist',
    lang: 'en',
    layout: 'editorial',
    template: 'harbor',
    pages: [
      {
        slug: '',
        title: 'Practice',
        sections: ['hero', 'feature_rows', 'steps', 'testimonials', 'clients', 'text', 'video', 'contact'],
      },
      { slug: 'people', title: 'People', sections: ['products', 'contact'] },
      { slug: 'fees', title: 'Fees', sections: ['pricing', 'gallery'] },
    ],
  },
  hero: {
    title: 'Tax advice for companies that cross borders',
    lede: 'Three partners, no pyramid. The person you meet is the person who does the work, answers the phone and signs the letter.',
    chips: ['Rotterdam and Gothenburg', 'Since 2009', 'Member of NOB'],
    image: 'asset:w1',
    alt: 'Harbour',
  },
  featureRows: [
    {
      title: 'Transfer pricing',
      text: 'Documentation that survives an audit, written so that your own finance team can keep it up without us.',
    },
    {
      title: 'Moving people',
      text: 'Payroll, permits and pensions for staff who work in two countries, before the first day and not after it.',
    },
    {
      title: 'Disputes',
      text: 'We have sat on the other side of the table, and settle early when that is what the numbers say.',
      image: 'asset:w2',
    },
  ],
  products: [
    { name: 'Adaeze Okafor', image: 'asset:t1', tag: 'Partner' },
    { name: 'Per Lindqvist', image: 'asset:t2', tag: 'Partner' },
    { name: 'Jo van der Meer', image: 'asset:t3', tag: 'Counsel' },
  ],
  testimonials: [
    {
      quote: 'They told us in the first hour that we did not need them. We have not used anyone else since.',
      name: 'CFO',
      role: 'a shipping group',
    },
    { quote: 'Letters in plain words, on time.', name: 'M. Bakker' },
  ],
  pricing: [
    { name: 'First hour', price: '€0', features: ['By phone or on site', 'A written summary'] },
    {
      name: 'Fixed question',
      price: 'from €1,800',
      features: ['Scope agreed in writing', 'One opinion, one round of questions'],
    },
    { name: 'Retainer', price: '€2,400 a month', features: ['Eight hours', 'Answers within a day'] },
  ],
  gallery: [
    { image: 'asset:w3', caption: 'The office on the Veerhaven', alt: 'x' },
    { image: 'asset:w2', alt: 'y' },
    { image: 'asset:t1', alt: 'z' },
  ],
  clients: [
    { name: 'Halvorsen Shipping' },
    { name: 'Brandt & Zn.' },
    { name: 'Nordkap Foods' },
    { name: 'Port of Gävle' },
  ],
  steps: [
    { title: 'Call', text: 'Half an hour, free.' },
    { title: 'Letter', text: 'Scope and price on one page.' },
    { title: 'Work', text: 'One person, start to end.' },
  ],
  text: [
    {
      text: 'We started in a room above a chandler in 2009, with one client and one telephone.\n\nThe client is still with us. The telephone is not.',
    },
  ],
  video: { url: 'https://vimeo.com/76979871', title: 'What a ruling is' },
  contact: {
    phone: '+31 10 000 0000',
    address: { street: 'Veerhaven 9', postalCode: '3016 CJ', locality: 'Rotterdam' },
    email: 'office@okaforlindqvist.example',
    websiteUrl: 'https://journal.ol.example/',
    social: [{ platform: 'LinkedIn', url: 'https://linkedin.example/ol' }],
  },
}

export const STUDIO: Content = {
  meta: { companyName: 'Nomen', lang: 'en', layout: 'monolith', template: 'studio' },
  hero: {
    title: 'We name things',
    lede: 'A studio of four in Leeds. Names, marks and the words around them, for companies that have run out of adjectives.',
    chips: ['Since 2012', 'Four people'],
  },
  featureRows: [
    {
      title: 'Names',
      text: 'Two weeks, three candidates, checked in forty languages and every register that matters.',
    },
    { title: 'Marks', text: 'Drawn, not generated. One idea, carried through.' },
    { title: 'Words', text: 'The sentence on the box, the error message, the letter to shareholders.' },
  ],
  products: [
    { name: 'Halden Ferries', tag: 'Name and livery' },
    { name: 'Oat & Salt', tag: 'Name' },
    { name: 'The Bradford Archive', tag: 'Identity' },
    { name: 'Quill', tag: 'Name and voice' },
  ],
  pricing: [
    { name: 'A name', price: '£9,000', features: ['Three candidates', 'Legal screening'] },
    { name: 'A name and a mark', price: '£18,000', features: ['All of the above', 'Mark and guide'] },
  ],
  testimonials: [
    { quote: 'They sent one name. It was the name.', name: 'Ruth Adeyemi', role: 'Quill' },
    { quote: 'Cheaper than arguing for a year.', name: 'S. Holm' },
  ],
  services: [
    { name: 'Naming', text: 'Two weeks.', price: 'from £9,000' },
    { name: 'Identity', text: 'Six weeks.' },
    { name: 'Voice', text: 'A manual that people read.' },
  ],
  team: [
    { name: 'Ada Moss', role: 'Names' },
    { name: 'Lev Orlov', role: 'Marks' },
    { name: 'Sam Hart', role: 'Words' },
    { name: 'Kit Owens', role: 'Everything else' },
  ],
  marquee: { items: ['Halden', 'Quill', 'Oat & Salt', 'Bradford', 'Tern'] },
  faq: [
    { question: 'Do you do logos?', answer: 'Yes, after the name.' },
    { question: 'How many rounds?', answer: 'One.' },
  ],
  contact: { email: 'hello@nomen.example', chat: 'https://t.me/nomen' },
}

export const CLINIC: Content = {
  meta: {
    companyName: 'Clínica Dental Marrero',
    lang: 'es',
    layout: 'sidenav',
    template: 'clinic',
    pages: [
      {
        slug: '',
        title: 'Inicio',
        sections: ['hero', 'feature_rows', 'products', 'pricing', 'faq', 'hours', 'testimonials', 'contact'],
      },
      { slug: 'equipo', title: 'Equipo', sections: ['team', 'gallery', 'contact'] },
    ],
  },
  hero: {
    title: 'Dentistas que explican antes de tocar',
    lede: 'Seis profesionales en Triana, Las Palmas. Urgencias el mismo día, de lunes a sábado.',
    chips: ['Urgencias hoy', 'Lun–Sáb 9–20 h', 'Calle Triana 40'],
    image: 'asset:w1',
    alt: 'Consulta',
  },
  featureRows: [
    {
      title: 'Odontología general',
      text: 'Revisiones, empastes y limpiezas. La primera visita incluye radiografía.',
    },
    { title: 'Ortodoncia', text: 'Alineadores y brackets, con plan y precio cerrados antes de empezar.' },
    { title: 'Implantes', text: 'Estudio en 3D en la clínica; el mismo cirujano desde el principio.' },
    { title: 'Odontopediatría', text: 'Sin prisa y sin sustos, con una sala propia.' },
  ],
  products: [
    { name: 'Limpieza', price: '55 €' },
    { name: 'Empaste', price: '70 €' },
    { name: 'Blanqueamiento', price: '260 €' },
    { name: 'Implante con corona', price: '1.150 €' },
    { name: 'Férula de descarga', price: '220 €' },
    { name: 'Ortodoncia invisible', price: 'desde 2.400 €' },
  ],
  pricing: [
    { name: 'Plan familiar', price: '18 €/mes', features: ['Dos limpiezas al año', 'Revisiones ilimitadas'] },
    { name: 'Plan individual', price: '9 €/mes', features: ['Una limpieza al año', 'Revisión semestral'] },
  ],
  testimonials: [
    { quote: 'Me enseñaron la radiografía y me dijeron que podía esperar. Esperé.', name: 'Carmen S.' },
    { quote: 'Mi hija pide volver.', name: 'Rayco' },
  ],
  gallery: [
    { image: 'asset:t1', caption: 'Dra. Marrero', alt: 'a' },
    { image: 'asset:t2', caption: 'Dr. Santana', alt: 'b' },
    { image: 'asset:t3', caption: 'Dra. Díaz', alt: 'c' },
    { image: 'asset:t1', alt: 'd', caption: 'Sala 2' },
  ],
  team: [
    { name: 'Dra. Pino Marrero', role: 'Directora', image: 'asset:t1', text: 'Implantes y cirugía.' },
    { name: 'Dr. Iván Santana', role: 'Ortodoncia', image: 'asset:t2' },
    { name: 'Dra. Nira Díaz', role: 'Odontopediatría', image: 'asset:t3' },
  ],
  faq: [
    {
      question: '¿Atienden urgencias sin cita?',
      answer: 'Sí. Llame antes de venir y le damos hora en el mismo día; si es posible, en la misma mañana.',
    },
    {
      question: '¿Cuánto cuesta la primera visita?',
      answer: 'Sí. Llame antes de venir y le damos hora en el mismo día; si es posible, en la misma mañana.',
    },
    {
      question: '¿Puedo pagar a plazos?',
      answer: 'Sí. Llame antes de venir y le damos hora en el mismo día; si es posible, en la misma mañana.',
    },
    {
      question: '¿Tienen aparcamiento?',
      answer: 'Sí. Llame antes de venir y le damos hora en el mismo día; si es posible, en la misma mañana.',
    },
    {
      question: '¿Atienden a niños?',
      answer: 'Sí. Llame antes de venir y le damos hora en el mismo día; si es posible, en la misma mañana.',
    },
    {
      question: '¿Trabajan con mi seguro?',
      answer: 'Sí. Llame antes de venir y le damos hora en el mismo día; si es posible, en la misma mañana.',
    },
    {
      question: '¿Duele un implante?',
      answer: 'Sí. Llame antes de venir y le damos hora en el mismo día; si es posible, en la misma mañana.',
    },
    {
      question: '¿Qué llevo a la primera visita?',
      answer: 'Sí. Llame antes de venir y le damos hora en el mismo día; si es posible, en la misma mañana.',
    },
    {
      question: '¿Puedo cancelar?',
      answer: 'Sí. Llame antes de venir y le damos hora en el mismo día; si es posible, en la misma mañana.',
    },
  ],
  hours: {
    weekly: [
      { days: ['mon', 'tue', 'wed', 'thu', 'fri'], opens: '09:00', closes: '20:00' },
      { days: ['sat'], opens: '10:00', closes: '14:00' },
    ],
  },
  contact: {
    phone: '+34 928 000 000',
    address: { street: 'Calle Triana 40', postalCode: '35002', locality: 'Las Palmas' },
    email: 'cita@marrero.example',
    websiteUrl: 'tel:+34928000000',
    social: [{ platform: 'Instagram', url: 'https://instagram.example/x' }],
  },
}
