import { useInfiniteQuery, useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { usePermissions } from '../api/permissions.ts'
import {
  changeProjectLimit,
  projectLimitsQuery,
  type LimitChanges,
  type ProjectLimit,
} from '../api/project-models.ts'
import type { Column } from '../ui/data/data-table.tsx'
import { PagedTable } from '../ui/data/paged-table.tsx'
import { EmptyState } from '../ui/feedback/empty-state.tsx'
import { formatCount } from '../ui/format/format-count.ts'
import { IconButton } from '../ui/forms/icon-button.tsx'
import { TextField } from '../ui/forms/text-field.tsx'
import { FormDialog } from '../ui/overlays/form-dialog.tsx'
import type { ProjectPartProps } from './project-part.ts'

/** How much of each model the project may use. Only sessions of the account change it. */
export function ProjectLimits({ id, isActive, isOfAccount }: ProjectPartProps) {
  const may = usePermissions()
  const limits = useInfiniteQuery(projectLimitsQuery(id))
  const [opened, setOpened] = useState<ProjectLimit | null>(null)
  const canChange = isActive && isOfAccount && may('projects.manage')
  return (
    <div className="flex flex-col gap-4">
      <p className="max-w-2xl text-sm text-ink-soft">
        All keys of the project share these limits. Where none is set, each key has those of the account.
      </p>
      <PagedTable
        label="Limits"
        tools={{ id: 'limits' }}
        query={limits}
        columns={columnsOf(canChange ? setOpened : null)}
        rowId={(limit) => limit.id}
        empty={<EmptyState icon="usage" title="The project may use no model" />}
      />
      {opened && <LimitDialog id={id} limit={opened} onClose={() => setOpened(null)} />}
    </div>
  )
}

function columnsOf(onChange: ((limit: ProjectLimit) => void) | null): Column<ProjectLimit>[] {
  return [
    {
      id: 'model',
      header: 'Model',
      value: ({ model }) => model,
      render: ({ model }) => <span className="font-mono text-xs">{model}</span>,
    },
    {
      id: 'requests',
      header: 'Requests a minute',
      value: ({ max_requests_per_1_minute: count }) => count,
      width: '144px',
      align: 'right',
      render: ({ max_requests_per_1_minute: count }) => formatCount(count),
    },
    {
      id: 'tokens',
      header: 'Tokens a minute',
      value: ({ max_tokens_per_1_minute: count }) => count,
      width: '144px',
      align: 'right',
      isMinor: true,
      render: ({ max_tokens_per_1_minute: count }) => formatCount(count),
    },
    {
      id: 'day',
      header: 'Requests a day',
      value: ({ max_requests_per_1_day: count }) => count,
      width: '128px',
      align: 'right',
      isMinor: true,
      render: ({ max_requests_per_1_day: count }) =>
        count === undefined ? <span className="text-ink-faint">no limit</span> : formatCount(count),
    },
    ...(onChange === null
      ? []
      : [
          {
            id: 'change',
            isAction: true as const,
            width: '64px',
            align: 'right' as const,
            render: (limit: ProjectLimit) => (
              <IconButton icon="pencil" label={`Change ${limit.model}`} onClick={() => onChange(limit)} />
            ),
          },
        ]),
  ]
}

const FIELDS = {
  max_requests_per_1_minute: 'Requests a minute',
  max_tokens_per_1_minute: 'Tokens a minute',
  max_requests_per_1_day: 'Requests a day, of UTC',
} as const

type FieldName = keyof typeof FIELDS
const NAMES: readonly FieldName[] = [
  'max_requests_per_1_minute',
  'max_tokens_per_1_minute',
  'max_requests_per_1_day',
]

interface LimitDialogProps {
  readonly id: string
  readonly limit: ProjectLimit
  readonly onClose: () => void
}

function LimitDialog({ id, limit, onClose }: LimitDialogProps) {
  const queryClient = useQueryClient()
  // What is shown may be the limit of the account, so only what is written is sent.
  const [drafts, setDrafts] = useState<Readonly<Partial<Record<FieldName, string>>>>({})
  const work = useMutation({
    mutationFn: () => changeProjectLimit(id, limit.id, changesOf(drafts)),
    onSuccess: async () => {
      await queryClient.invalidateQueries({ queryKey: ['projects', id, 'limits'] })
      onClose()
    },
  })
  const isWrong = (text: string | undefined): boolean =>
    text !== undefined && text.trim() !== '' && !/^[1-9]\d{0,13}$/.test(text.trim())
  return (
    <FormDialog
      title={`Limits of ${limit.model}`}
      action="Save"
      work={work}
      failure="The limits could not be changed"
      isIncomplete={Object.keys(drafts).length === 0 || NAMES.some((name) => isWrong(drafts[name]))}
      onClose={onClose}
    >
      {NAMES.map((name, position) => (
        <TextField
          key={name}
          label={FIELDS[name]}
          inputMode="numeric"
          autoFocus={position === 0}
          placeholder="that of the account"
          value={drafts[name] ?? limit[name]?.toString() ?? ''}
          error={isWrong(drafts[name]) ? 'A whole number above zero, or nothing.' : null}
          onChange={(text) => setDrafts({ ...drafts, [name]: text })}
        />
      ))}
      <p className="text-xs text-ink-soft">An empty field leaves only what the account may.</p>
    </FormDialog>
  )
}

function changesOf(drafts: Readonly<Partial<Record<FieldName, string>>>): LimitChanges {
  const changes = NAMES.flatMap((name) => {
    const text = drafts[name]?.trim()
    return text === undefined ? [] : [[name, text === '' ? null : Number(text)] as const]
  })
  return Object.fromEntries(changes)
}
