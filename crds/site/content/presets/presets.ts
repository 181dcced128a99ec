/**
 * The presets of all trades, by version. A version never changes once it was released: an approved site is made of it. Whoever
 * mends a word adds a version, and sites that are made from then on have it (`hack/decisions/060`).
 */
import { AGENT } from './agent.ts'
import { ELECTRONICS, SHOP } from './goods.ts'
import { PRACTICE, RESTAURANT, STUDIO } from './houses.ts'
import type { TradePreset } from './preset.ts'
import { FASHION, JEWELRY } from './wear.ts'

export const PRESETS = [
  'agent',
  'electronics',
  'jewelry',
  'fashion',
  'restaurant',
  'studio',
  'shop',
  'practice',
] as const
export type PresetId = (typeof PRESETS)[number]

/** Of sites that are made now. */
export const PRESET_VERSION = 1

const VERSIONS: Readonly<Record<number, Readonly<Record<PresetId, TradePreset>>>> = {
  1: {
    agent: AGENT,
    electronics: ELECTRONICS,
    jewelry: JEWELRY,
    fashion: FASHION,
    restaurant: RESTAURANT,
    studio: STUDIO,
    shop: SHOP,
    practice: PRACTICE,
  },
}

/** @returns null for a version that there is not */
export const presetOf = (id: PresetId, version: number): TradePreset | null => VERSIONS[version]?.[id] ?? null
