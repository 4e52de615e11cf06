// Provides the numbers of a view for the planner's estimates: counts per type, endpoints of edge types.
import type { Statistics } from '../plan/estimate.js';
import type { ReadView } from '../storage/table/view-types.js';

export function statisticsOf(view: ReadView): Statistics {
  const { catalog } = view;
  return {
    count({ kind, name }) {
      const label = catalog.find(kind, name);
      return label && view.count(label.id);
    },
    ends(name) {
      const type = catalog.find('edge', name)?.type;
      return type?.kind === 'edge' ? { from: type.from, to: type.to } : undefined;
    },
  };
}
