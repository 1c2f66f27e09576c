import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { accountQuery } from '../api/account.ts'
import type { BudgetSubject } from '../api/budgets.ts'
import { membersQuery } from '../api/people.ts'
import { projectsQuery } from '../api/projects.ts'

const KINDS: Readonly<Record<BudgetSubject['type'], string>> = {
  account: 'Whole account',
  project: 'Project',
  group: 'Group',
  user: 'Person',
  service_account: 'Service account',
  key: 'Key',
  tag: 'Tag',
}

/** Returns how a budget's subject is called. Where the session does not see the whole account, its own project and person are known. */
export function useSubjectNames(isWhole: boolean): (subject: BudgetSubject) => string {
  const projects = useInfiniteQuery({ ...projectsQuery(), enabled: isWhole })
  const members = useInfiniteQuery({ ...membersQuery(), enabled: isWhole })
  const session = useQuery(accountQuery).data?.session
  const names = new Map<string, string>()
  if (session?.project) names.set(session.project.id, session.project.name)
  if (session?.user) names.set(session.user.id, session.user.name ?? session.user.email)
  for (const { id, name } of projects.data?.pages.flatMap(({ data }) => data) ?? []) names.set(id, name)
  for (const { id, name, email } of members.data?.pages.flatMap(({ data }) => data) ?? [])
    names.set(id, name ?? email)
  return ({ type, id }) => (id === null ? KINDS[type] : `${KINDS[type]} ${names.get(id) ?? id}`)
}
