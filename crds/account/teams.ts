/** Teams: an account is a member of the teams that its resource names. Membership gives sight, never a right to write. */
import type { AccountView } from './view.ts'

type Member = Pick<AccountView, 'teams'>

/** Whether two accounts are members of one team. */
export const shareTeam = (a: Member, b: Member): boolean => a.teams.some((team) => b.teams.includes(team))
