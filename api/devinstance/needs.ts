/** What the handlers of dev instances take. */
import type { Commanding, Deps, Writing } from '../wiring/deps.ts'
import type { Stores } from '../wiring/stores.ts'

/** To find one, with its reports and its budget. */
export type FindingInstance = Pick<Deps, 'mirror' | 'now'> & Pick<Stores, 'devInstances' | 'sshKeys'>

/** To answer with how a command on one ended, and bury one that is gone. */
export type AnsweringInstance = FindingInstance & Writing & Pick<Deps, 'publicUrl'>

export type DevInstanceNeeds = Commanding & AnsweringInstance & Pick<Deps, 'audit'> & Pick<Stores, 'blobs' | 'vault'>
