import { BudgetList } from './budget-list.tsx'
import type { ProjectPartProps } from './project-part.ts'

/** The budgets of a project. */
export function ProjectBudgets({ id, isActive }: ProjectPartProps) {
  return <BudgetList subject={{ type: 'project', id }} canManage={isActive} />
}
