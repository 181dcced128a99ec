/** How large a dev instance must be for what it holds: the sizing function, asked about a dev instance. Source: rules/devinstance.md#repository. */
import { withDefaults } from '../../kernel/schema.ts'
import type { DevInstanceRow } from '../life/row.ts'
import { PROFILE, type ScannerProfile } from './profile.ts'
import { needsResize, type Size, type Sizing, sizeFor } from './sizing.ts'

/** A dev instance about which no scanner has said anything. */
const NOTHING: ScannerProfile = withDefaults(PROFILE, {})

/**
 * The size that a dev instance should have, from its profile and what was measured on it.
 * @param capLeftCents what its owner may still commit, beside this dev instance
 */
export const sizingOf = (
  instance: Pick<
    DevInstanceRow,
    'profile' | 'measurements' | 'agents' | 'sizeClass' | 'arch' | 'diskGb' | 'pricingVersion'
  >,
  capLeftCents?: number,
): Sizing =>
  sizeFor({
    profile: instance.profile ?? NOTHING,
    ...(instance.measurements && { measurements: instance.measurements }),
    // Each agent that the dev instance has works once at a time; the need of all of them is summed.
    concurrency: 1,
    agents: instance.agents,
    present: { sizeClass: instance.sizeClass, arch: instance.arch, diskGb: instance.diskGb },
    pricingVersion: instance.pricingVersion,
    ...(capLeftCents !== undefined && { capLeftCents }),
  })

/** The size that another repository would need; null when the dev instance is large enough for it. What was measured is of the old one. */
export const resizeNeeded = (instance: DevInstanceRow, profile: ScannerProfile): Size | null => {
  const { proposal } = sizingOf({ ...instance, profile, measurements: null })
  return needsResize(instance, proposal) ? proposal : null
}
