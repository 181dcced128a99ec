/** An insurance agent with one link, and a goldsmith with a story, in the words of their owners. */
import type { Content } from '../../../crds/site/content/content.ts'
import { contentOf } from '../../../crds/site/content/expand.ts'

/** Over the preset of agents: its sections, order and words. */
export const AGENT: Content = contentOf({
  preset: 'agent',
  content: {
    meta: { companyName: '陳怡安　保險顧問', lang: 'zh-Hant' },
    hero: {
      title: '先把家裡的保單看懂，再談要不要加',
      lede: '十二年來，我只做一件事：把條款翻成家人聽得懂的話。第一次見面不談商品，只整理您手上的保單。',
      chips: ['執業十二年', '服務六百個家庭', '全台到府'],
      image: 'asset:w2',
      alt: '陳怡安坐在書桌前',
      focus: { x: 50, y: 30 },
    },
    services: [
      { name: '家庭保單健檢', text: '一次看完全家的保單，列出重複與缺口，附上一張一頁的總表。' },
      { name: '醫療與重大疾病', text: '依年齡與病史比較三家以上的條款，理賠時陪您備齊文件。' },
      { name: '退休與傳承', text: '把每月能存的數字先算清楚，再決定要用哪一種工具。' },
    ],
    testimonials: [
      {
        quote: '父親住院那個月，怡安比我們更早把文件備好。我們只需要陪在病床邊。',
        name: '林先生',
        role: '新北，兩個孩子的爸爸',
      },
      { quote: '她勸我退掉一張保單。第一次有人這樣跟我說。', name: '王小姐', role: '台中' },
    ],
    ctaBanner: {
      title: '十分鐘，整理好您的第一份保單總表',
      link: 'https://agent.example/yian',
      label: '用我的專屬連結開始',
    },
    contact: {
      email: 'yian@agent.example',
      phone: '+886 912 345 678',
      chat: 'https://line.me/ti/p/yian',
      address: { street: '忠孝東路四段 210 號 5 樓', locality: '台北市大安區' },
    },
  },
})

export const GOLD: Content = {
  meta: { companyName: '金水銀樓', lang: 'zh-Hant', layout: 'narrative', template: 'lumen' },
  hero: {
    title: '三代人，同一把鎚子',
    lede: '一九五一年，祖父帶著一把鎚子從福州來到大稻埕。今天我們仍用它敲出每一只戒指的第一道弧。',
    chips: ['創立於一九五一年', '大稻埕'],
    image: 'asset:w3',
    alt: '工作檯上的鎚子與戒圈',
  },
  featureRows: [
    {
      title: '祖父的鎚子',
      text: '槌頭換過三次，木柄沒有。他說手記得的事，圖紙記不得。店裡的第一只婚戒，是他替巷口賣布的夫妻打的。',
      image: 'asset:w1',
    },
    {
      title: '父親的火',
      text: '一盞酒精燈，一根吹管，焊口細得像頭髮。父親在燈下教會我等：金要等它自己變紅。',
      image: 'asset:w2',
    },
    {
      title: '我的石頭',
      text: '我從東部的溪裡選玉，從客人的舊首飾裡取金。每一件新的，都帶著一點舊的。',
      image: 'asset:t1',
    },
  ],
  testimonials: [{ quote: '他們把外婆的金鍊熔了，打成我和妹妹各一只戒指。', name: '許家瑜', role: '台北' }],
  products: [
    { name: '素圈', price: 'NT$18,600 起', image: 'asset:p1' },
    { name: '竹節戒', price: 'NT$26,400', image: 'asset:p2' },
    { name: '溪玉墜', price: 'NT$32,000', image: 'asset:p3' },
  ],
  contact: {
    email: 'hello@jinshui.example',
    phone: '+886 2 2555 0199',
    address: { street: '迪化街一段 88 號', locality: '台北市大同區' },
    social: [{ platform: 'Instagram', url: 'https://instagram.example/jinshui' }],
  },
}
