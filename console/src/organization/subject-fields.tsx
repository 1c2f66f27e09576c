import { useInfiniteQuery } from '@tanstack/react-query'
import type { BudgetSubject, SubjectType } from '../api/budgets.ts'
import { groupsQuery, membersQuery } from '../api/people.ts'
import { projectsQuery } from '../api/projects.ts'
import { SelectField, type Choice } from '../ui/forms/select-field.tsx'
import { TextField } from '../ui/forms/text-field.tsx'

const TYPES: readonly Choice<SubjectType>[] = [
  { value: 'account', label: 'The whole account' },
  { value: 'project', label: 'A project' },
  { value: 'group', label: 'A group' },
  { value: 'user', label: 'A person' },
  { value: 'service_account', label: 'A service account' },
  { value: 'key', label: 'A key' },
  { value: 'tag', label: 'A tag of requests' },
]

interface SubjectFieldsProps {
  readonly subject: BudgetSubject
  readonly onChange: (subject: BudgetSubject) => void
}

/** Whose spending a budget limits. */
export function SubjectFields({ subject: { type, id }, onChange }: SubjectFieldsProps) {
  const choose = (chosen: string): void => onChange({ type, id: chosen === '' ? null : chosen })
  return (
    <>
      <SelectField
        label="Budget of"
        value={type}
        choices={TYPES}
        onChange={(chosen) => onChange({ type: chosen, id: null })}
      />
      {type === 'project' && <ProjectField id={id} onChange={choose} />}
      {type === 'user' && <PersonField id={id} onChange={choose} />}
      {type === 'group' && <GroupField id={id} onChange={choose} />}
      {(type === 'service_account' || type === 'key') && (
        <TextField
          label={type === 'key' ? 'Id of the key' : 'Id of the service account'}
          required
          value={id ?? ''}
          onChange={choose}
          hint={type === 'key' ? 'It is on the page Keys.' : 'It is on the page of its project.'}
        />
      )}
      {type === 'tag' && (
        <TextField label="Tag" required value={id ?? ''} onChange={choose} hint="Such as team=search." />
      )}
    </>
  )
}

interface IdFieldProps {
  readonly id: string | null
  readonly onChange: (id: string) => void
}

function ProjectField({ id, onChange }: IdFieldProps) {
  const { data } = useInfiniteQuery(projectsQuery())
  const choices = (data?.pages ?? []).flatMap((page) => page.data)
  return <IdField label="Project" id={id} onChange={onChange} choices={choices} />
}

function PersonField({ id, onChange }: IdFieldProps) {
  const { data } = useInfiniteQuery(membersQuery())
  const choices = (data?.pages ?? []).flatMap((page) => page.data)
  const named = choices.map((person) => ({ id: person.id, name: person.name ?? person.email }))
  return <IdField label="Person" id={id} onChange={onChange} choices={named} />
}

function GroupField({ id, onChange }: IdFieldProps) {
  const { data } = useInfiniteQuery(groupsQuery())
  const choices = (data?.pages ?? []).flatMap((page) => page.data)
  return <IdField label="Group" id={id} onChange={onChange} choices={choices} />
}

interface ChoiceFieldProps extends IdFieldProps {
  readonly label: string
  readonly choices: readonly { readonly id: string; readonly name: string }[]
}

function IdField({ label, id, onChange, choices }: ChoiceFieldProps) {
  return (
    <SelectField
      label={label}
      value={id ?? ''}
      choices={[
        { value: '', label: choices.length === 0 ? 'There is none' : 'Choose' },
        ...choices.map((choice) => ({ value: choice.id, label: choice.name })),
      ]}
      onChange={onChange}
    />
  )
}
