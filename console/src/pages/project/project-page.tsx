import { getRouteApi } from '@tanstack/react-router'
import { ProjectView } from '../../organization/project-view.tsx'

const route = getRouteApi('/shell/organization/projects/$id')

export function ProjectPage() {
  const { id } = route.useParams()
  return <ProjectView key={id} id={id} />
}
