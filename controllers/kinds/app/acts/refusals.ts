import type { BudgetRefusal } from '../../../../crds/app/world.ts'

/** A service may use less in a minute. */
const ASK_AGAIN_MS = 60_000

/** Budgets that what runs could not be given. Of this process alone: another finds it out again. */
export const makeBudgetRefusals = ({ now }: { now: () => Date }) => {
  const held = new Map<string, BudgetRefusal & { untilMs: number }>()
  return {
    at: (app: string): BudgetRefusal | null => {
      const found = held.get(app)
      if (!found || found.untilMs <= now().getTime()) return null
      return { budget: found.budget, detail: found.detail }
    },
    note: (app: string, refusal: BudgetRefusal): void =>
      void held.set(app, { ...refusal, untilMs: now().getTime() + ASK_AGAIN_MS }),
    forget: (app: string): void => void held.delete(app),
  }
}
export type BudgetRefusals = ReturnType<typeof makeBudgetRefusals>
