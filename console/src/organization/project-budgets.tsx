import { usePermissions } from '../api/permissions.ts'
import { BudgetList } from './budget-list.tsx'
import { BudgetRequests } from './budget-requests.tsx'
import type { ProjectPartProps } from './project-part.ts'

/** The budgets of a project, and who asked for more of any that they see. */
export function ProjectBudgets({ id, isActive }: ProjectPartProps) {
  const may = usePermissions()
  const canManage = isActive && may('budgets.manage')
  return (
    <div className="flex flex-col gap-6">
      <BudgetList subject={{ type: 'project', id }} canManage={canManage} />
      <section aria-labelledby="asked" className="flex flex-col gap-3">
        <h2 id="asked" className="text-sm font-semibold">
          Requests for more
        </h2>
        <BudgetRequests canDecide={canManage} />
      </section>
    </div>
  )
}
