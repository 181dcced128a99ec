/** How large a box must be for what it holds: the sizing function, asked about a box. Source: spec/3, rules 1 and 4. */
import { withDefaults } from '../schema.ts'
import type { Box } from './box.ts'
import { PROFILE, type Profile } from './profile.ts'
import { needsResize, type Size, type Sizing, sizeFor } from './sizing.ts'

/** A box about which no scanner has said anything. */
const NOTHING: Profile = withDefaults(PROFILE, {})

/**
 * The size that a box should have, from its profile and what was measured on it.
 * @param capLeftCents what its owner may still commit, beside this box
 */
export const sizingOf = (
  box: Pick<Box, 'profile' | 'measurements' | 'agents' | 'sizeClass' | 'arch' | 'diskGb' | 'pricingVersion'>,
  capLeftCents?: number,
): Sizing =>
  sizeFor({
    profile: box.profile ?? NOTHING,
    ...(box.measurements && { measurements: box.measurements }),
    concurrency: Math.max(1, box.agents.length),
    agents: box.agents,
    present: { sizeClass: box.sizeClass, arch: box.arch, diskGb: box.diskGb },
    pricingVersion: box.pricingVersion,
    ...(capLeftCents !== undefined && { capLeftCents }),
  })

/** The size that another repository would need; null when the box is large enough for it. What was measured is of the old one. */
export const resizeNeeded = (box: Box, profile: Profile): Size | null => {
  const { proposal } = sizingOf({ ...box, profile, measurements: null })
  return needsResize(box, proposal) ? proposal : null
}
