/**
 * A command: one way in which desire is changed or a fact reported. It has a name, because its verdict may be asked for by
 * another process than the one that took the request in; all of them are listed in api/wiring/commands.ts.
 */
import type { KindRef } from '../../controllers/kube/kube.ts'
import type { MirrorRow } from '../../controllers/store/mirror.ts'
import type { KindOf } from '../../crds/kernel/kind.ts'
import { Problem } from '../http/problem.ts'
import type { Answer, ApiRequest } from '../http/route.ts'
import type { Judgement } from './look.ts'

/** Small JSON that says when a request is decided: a generation, the number of a fact, a digest. It is kept sealed. */
export type CommandGoal = Record<string, unknown>

/** Who asks for the answer: the caller itself, or whoever of its account reads the operation later. */
export type Asking = Pick<ApiRequest, 'caller'>

/** Of what a request ended, and the row that decided it. */
export type Concluded<Goal, View> = { name: string; goal: Goal; row: MirrorRow<View> | undefined }

/**
 * @typeParam Goal what decides it
 * @typeParam View of the kind, as its rows hold it
 * @typeParam Needs the parts that its answer takes; none when left out
 */
export type Command<Goal extends CommandGoal = CommandGoal, View = unknown, in Needs = unknown> = {
  /** As `site.publish`. It stands in stored operations: never given to anything else. */
  name: string
  kind: KindRef & KindOf<View>
  /** Pure: it is asked at every change of the row. */
  judge(goal: Goal, row: MirrorRow<View> | undefined): Judgement
  /**
   * What a caller is told, from a row that has decided; it changes nothing.
   * @returns null where the row has taken the request in and it is not decided all the same
   * @throws Problem as it was refused
   */
  answer(deps: Needs, asking: Asking, goal: Goal, row: MirrorRow<View> | undefined): Promise<Answer | null>
  /**
   * The resource came to be by this very call: until the watch has heard of it nothing can have been said, so the first look is
   * spared. Never true when it only may be so.
   */
  isNew?(goal: Goal): boolean
  /** It reports a fact, which is decided whatever becomes of the resource: one that left is brought back for it. */
  reports?: true
  /** It is about one that was deleted: its verdict stands in the ledger alone, and no row is waited for. */
  ofDeleted?: true
  /** What is asked may be decided long after the row has taken it in, when something outside has answered: wait on. */
  isPatient?: true
  /**
   * Gives back what was reserved for a request that is refused after its 202, when nobody's stack is left to do it. It may be
   * called again for the same request.
   */
  giveBack?(deps: Needs, of: { name: string; goal: Goal }, refusal: Problem): Promise<void>
  /**
   * What follows from how it ended, and must have been done before anybody is told: whoever finds out does it, so that it may be
   * done twice. @param refusal null when it succeeded
   */
  finish?(deps: Needs, of: Concluded<Goal, View>, refusal: Problem | null): Promise<void>
}

/** How a request ended by a row that has decided, once all that follows from it is done; null where it goes on. @throws Problem as it was refused */
export const conclude = async <Goal extends CommandGoal, View, Needs>(
  deps: NoInfer<Needs>,
  command: Command<Goal, View, Needs>,
  { name, goal, asking }: { name: string; goal: Goal; asking: Asking },
  row: MirrorRow<View> | undefined,
): Promise<Answer | null> => {
  try {
    const answer = await command.answer(deps, asking, goal, row)
    if (answer !== null) await command.finish?.(deps, { name, goal, row }, null)
    return answer
  } catch (error) {
    if (error instanceof Problem && error.status < 500) await command.finish?.(deps, { name, goal, row }, error)
    throw error
  }
}

/** A spec as it was written: this life of the resource, this generation. */
export type GenerationGoal = { uid: string; generation: number }

/** The goal of a change of desire. @param of the metadata of the resource as it was written */
export const generationGoal = ({ uid, generation }: GenerationGoal): GenerationGoal => ({ uid, generation })

/** How far the controllers have come with a spec as it was written. */
export const judgeGeneration = ({ uid, generation }: GenerationGoal, row: MirrorRow | undefined): Judgement => {
  if (row === undefined) return 'gone'
  if (row.uid !== uid) return 'remade'
  if (row.observedGeneration < generation) return 'pending'
  return row.observedGeneration === generation ? 'decided' : 'overtaken'
}

/** How far a deletion has come: what is gone is what was asked for. @param goal of the resource that was deleted */
export const judgeDeletion = ({ uid }: { uid: string }, row: MirrorRow | undefined): Judgement =>
  row === undefined || row.uid !== uid ? 'decided' : 'pending'

/** `replayed`: the same report stood there, undecided, and this is that one. */
export type FactGoal = { seq: number; replayed?: true }

/** A view that counts the facts that it has taken in, in the words of its surface. */
export type Counting = { fact_seq: number } | { factSeq: number }

const takenInBy = (view: Counting): number => ('fact_seq' in view ? view.fact_seq : view.factSeq)

/** How far the controllers have come with a fact. Those of one resource are taken in by their numbers. */
export const judgeFact = ({ seq }: FactGoal, row: MirrorRow<Counting> | undefined): Judgement => {
  if (row === undefined) return 'gone'
  return takenInBy(row.view) >= seq ? 'decided' : 'pending'
}
