import type { AccountRole } from '../api/people.ts'
import type { ProjectRole } from '../api/projects.ts'
import type { Choice } from '../ui/forms/select-field.tsx'

/** What a role means, in the words of a form. */
export const ACCOUNT_ROLE_CHOICES: readonly Choice<AccountRole>[] = [
  { value: 'reader', label: 'Reader: works in projects' },
  { value: 'auditor', label: 'Auditor: reads everything' },
  { value: 'billing', label: 'Billing: manages the money' },
  { value: 'owner', label: 'Owner: manages everything' },
]

export const PROJECT_ROLE_CHOICES: readonly Choice<ProjectRole>[] = [
  { value: 'member', label: 'Member: uses models' },
  { value: 'owner', label: 'Owner: manages the project' },
  { value: 'viewer', label: 'Viewer: reads only' },
]
