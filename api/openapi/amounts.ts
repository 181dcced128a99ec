/** What a host has, or an app takes of it, as answers describe it. */
import type { JsonSchema } from '../../crds/kernel/rest.ts'
import { whole } from './schemas.ts'

export const amounts = (description: string): JsonSchema => ({
  type: ['object', 'null'],
  description,
  properties: {
    cpu_millis: whole('Thousandths of a processor.'),
    memory_mib: whole('MiB of memory.'),
    disk_gib: whole('GiB of disk.'),
  },
})
