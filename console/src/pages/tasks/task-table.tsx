import type { Task } from '../../api/tasks.ts'
import { useMemo } from 'react'
import { DataTable, type Column } from '../../ui/data/data-table.tsx'
import { formatDuration } from '../../ui/format/format-duration.ts'
import { formatUsd } from '../../ui/format/format-usd.ts'
import { CopyableId } from '../../ui/text/copyable-id.tsx'
import { RowLink } from '../../ui/text/row-link.tsx'
import { Time } from '../../ui/text/time.tsx'
import { LiveTask } from './live-task.tsx'
import type { TaskListProps } from './task-gallery.tsx'
import { TaskStatus } from '../../ui/text/task-status.tsx'
import { TYPE_LABELS } from './tasks-search.ts'

/** All tasks in lines. */
export function TaskTable({ tasks, onOpen, ...more }: TaskListProps) {
  const columns = useMemo(() => columnsFor(onOpen), [onOpen])
  return (
    <DataTable
      label="Tasks"
      tools={{ id: 'tasks' }}
      columns={columns}
      rows={tasks}
      rowId={({ id }) => id}
      onOpen={onOpen}
      {...more}
    />
  )
}

const columnsFor = (onOpen: (task: Task) => void): Column<Task>[] => [
  {
    id: 'state',
    value: ({ status }) => status,
    header: 'State',
    width: '152px',
    render: (task) => <LiveStatus task={task} />,
  },
  {
    id: 'prompt',
    value: ({ prompt }) => prompt,
    header: 'Task',
    render: (task) => (
      <RowLink onOpen={() => onOpen(task)}>{task.prompt ?? TYPE_LABELS[task.task_type]}</RowLink>
    ),
  },
  {
    id: 'type',
    value: (task) => TYPE_LABELS[task.task_type],
    header: 'Type',
    width: '112px',
    isMinor: true,
    render: (task) => TYPE_LABELS[task.task_type],
  },
  {
    id: 'model',
    value: ({ model }) => model,
    header: 'Model',
    width: '168px',
    isMinor: true,
    render: (task) => task.model,
  },
  {
    id: 'id',
    value: ({ id }) => id,
    header: 'Id',
    width: '152px',
    isMinor: true,
    render: (task) => <CopyableId id={task.id} label="task id" isShort />,
  },
  { id: 'took', value: tookMs, header: 'Took', width: '96px', align: 'right', isMinor: true, render: tookOf },
  {
    id: 'cost',
    value: ({ cost_usd: usd }) => usd,
    header: 'Cost',
    width: '88px',
    align: 'right',
    render: ({ cost_usd: cost }) =>
      cost === null ? <span className="text-ink-faint">none</span> : formatUsd(cost),
  },
  {
    id: 'created',
    value: ({ created_at: at }) => at,
    header: 'Created',
    width: '112px',
    align: 'right',
    isMinor: true,
    render: (task) => <Time at={task.created_at} />,
  },
]

function LiveStatus({ task: known }: { readonly task: Task }) {
  return (
    <LiveTask task={known}>
      {(task) => (
        <span className="flex items-center gap-2">
          <TaskStatus status={task.status} />
          {task.status === 'processing' && (
            <span className="tabular text-xs text-ink-soft">{task.progress} %</span>
          )}
        </span>
      )}
    </LiveTask>
  )
}

function tookMs({ started_at: from, completed_at: to }: Task): number | null {
  return from === null || to === null ? null : Date.parse(to) - Date.parse(from)
}

function tookOf(task: Task): string {
  const ms = tookMs(task)
  return ms === null ? '' : formatDuration(ms)
}
