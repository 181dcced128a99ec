/** The words of a contact form: on the site, and on the platform's pages that take in what was written there. */
import type { SiteLang } from '../../content/content.ts'
import type { WrittenField } from './written.ts'

export type FormWords = {
  title: string
  name: string
  email: string
  phone: string
  /** Beside what may be left out. */
  optional: string
  message: string
  send: string
  /** Of the field that people do not see. */
  trap: string
  /** What becomes of it, in two sentences. */
  privacy: string
  /** What is wrong with a field. */
  faults: Record<WrittenField, string>
  fault: string
  once: string
  sent: string
  sentText: (company: string) => string
  closed: string
  closedText: string
  dead: string
  deadText: string
  tooMany: string
  tooManyText: (minutes: number) => string
  full: string
  back: (company: string) => string
}

/** Source: rules/site.md#messages. */
export const FORM_WORDS: Record<SiteLang, FormWords> = {
  en: {
    title: 'Write to us',
    name: 'Name',
    email: 'Email',
    phone: 'Phone',
    optional: 'optional',
    message: 'Message',
    send: 'Send',
    trap: 'Leave this empty',
    privacy: 'Used to answer you and for nothing else. The service that passes it on deletes it after 30 days.',
    faults: {
      name: 'Say who is writing, in one line of up to 100 characters.',
      email: 'This is no email address that an answer could go to.',
      phone: 'A phone number has digits, spaces, and perhaps a + at its beginning.',
      message: 'Write something, in up to 3,000 characters.',
    },
    fault: 'It was not sent yet: please look at what is marked.',
    once: 'Please check it, and send it once more.',
    sent: 'Thank you',
    sentText: (company) => `Your message is on its way to ${company}.`,
    closed: 'Nothing was sent',
    closedText: 'This website is not public now, so its form passes nothing on.',
    dead: 'This form is closed',
    deadText: 'Nothing was sent. Open the website anew, or write to it in another way.',
    tooMany: 'Not now, please',
    tooManyText: (minutes) =>
      `Nothing was sent: there were too many messages. Try again in ${minutes === 1 ? 'a minute' : `${minutes} minutes`}.`,
    full: 'Nothing was sent: no more messages are taken here today. Try again tomorrow, or write in another way.',
    back: (company) => `Back to ${company}`,
  },
  es: {
    title: 'Escríbanos',
    name: 'Nombre',
    email: 'Correo electrónico',
    phone: 'Teléfono',
    optional: 'opcional',
    message: 'Mensaje',
    send: 'Enviar',
    trap: 'Déjelo vacío',
    privacy: 'Solo se usa para responderle. El servicio que lo transmite lo borra a los 30 días.',
    faults: {
      name: 'Indique quién escribe, en una línea de hasta 100 caracteres.',
      email: 'No es un correo electrónico al que se pueda responder.',
      phone: 'Un teléfono lleva cifras, espacios y quizá un + al principio.',
      message: 'Escriba algo, hasta 3000 caracteres.',
    },
    fault: 'Aún no se ha enviado: revise lo que está marcado.',
    once: 'Revíselo y envíelo una vez más.',
    sent: 'Gracias',
    sentText: (company) => `Su mensaje va camino de ${company}.`,
    closed: 'No se ha enviado nada',
    closedText: 'Este sitio no es público ahora, así que su formulario no transmite nada.',
    dead: 'Este formulario está cerrado',
    deadText: 'No se ha enviado nada. Abra de nuevo el sitio o escriba de otra manera.',
    tooMany: 'Ahora no, por favor',
    tooManyText: (minutes) =>
      `No se ha enviado nada: hubo demasiados mensajes. Pruebe de nuevo en ${minutes === 1 ? 'un minuto' : `${minutes} minutos`}.`,
    full: 'No se ha enviado nada: hoy no se aceptan más mensajes aquí. Pruebe mañana o escriba de otra manera.',
    back: (company) => `Volver a ${company}`,
  },
  'zh-Hant': {
    title: '寫信給我們',
    name: '姓名',
    email: '電子郵件',
    phone: '電話',
    optional: '選填',
    message: '訊息',
    send: '送出',
    trap: '請勿填寫',
    privacy: '僅用於回覆您。轉寄此訊息的服務會在 30 天後刪除。',
    faults: {
      name: '請寫下您的姓名，一行，最多 100 字。',
      email: '這不是可以回覆的電子郵件地址。',
      phone: '電話號碼由數字與空格組成，開頭可有 +。',
      message: '請寫下訊息，最多 3,000 字。',
    },
    fault: '尚未送出：請查看標示的欄位。',
    once: '請確認內容，再送出一次。',
    sent: '謝謝您',
    sentText: (company) => `您的訊息正轉寄給 ${company}。`,
    closed: '沒有送出任何內容',
    closedText: '這個網站目前未公開，因此表單不會轉寄任何內容。',
    dead: '這個表單已關閉',
    deadText: '沒有送出任何內容。請重新開啟網站，或以其他方式聯絡。',
    tooMany: '請稍後再試',
    tooManyText: (minutes) => `沒有送出任何內容：訊息過多。請在 ${minutes} 分鐘後再試。`,
    full: '沒有送出任何內容：今天此處不再接收訊息。請明天再試，或以其他方式聯絡。',
    back: (company) => `回到 ${company}`,
  },
  'zh-Hans': {
    title: '给我们写信',
    name: '姓名',
    email: '电子邮件',
    phone: '电话',
    optional: '选填',
    message: '留言',
    send: '发送',
    trap: '请勿填写',
    privacy: '仅用于回复您。转发此留言的服务会在 30 天后将其删除。',
    faults: {
      name: '请写下您的姓名，一行，最多 100 字。',
      email: '这不是可以回复的电子邮件地址。',
      phone: '电话号码由数字和空格组成，开头可有 +。',
      message: '请写下留言，最多 3,000 字。',
    },
    fault: '尚未发送：请查看标出的栏目。',
    once: '请核对内容，再发送一次。',
    sent: '谢谢您',
    sentText: (company) => `您的留言正在转发给 ${company}。`,
    closed: '没有发送任何内容',
    closedText: '这个网站目前未公开，因此表单不会转发任何内容。',
    dead: '这个表单已关闭',
    deadText: '没有发送任何内容。请重新打开网站，或以其他方式联系。',
    tooMany: '请稍后再试',
    tooManyText: (minutes) => `没有发送任何内容：留言过多。请在 ${minutes} 分钟后再试。`,
    full: '没有发送任何内容：今天此处不再接收留言。请明天再试，或以其他方式联系。',
    back: (company) => `返回 ${company}`,
  },
}
