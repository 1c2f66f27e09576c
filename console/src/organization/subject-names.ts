import { useInfiniteQuery } from '@tanstack/react-query'
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

/** Returns how a budget's subject is called. Names are known where the session sees the whole account. */
export function useSubjectNames(isWhole: boolean): (subject: BudgetSubject) => string {
  const projects = useInfiniteQuery({ ...projectsQuery(), enabled: isWhole })
  const members = useInfiniteQuery({ ...membersQuery(), enabled: isWhole })
  const names = new Map<string, string>()
  for (const { id, name } of projects.data?.pages.flatMap(({ data }) => data) ?? []) names.set(id, name)
  for (const { id, name, email } of members.data?.pages.flatMap(({ data }) => data) ?? [])
    names.set(id, name ?? email)
  return ({ type, id }) => (id === null ? KINDS[type] : `${KINDS[type]} ${names.get(id) ?? id}`)
}
