// Shows the state of this server in its cluster: role, leader, position and lag. It is only drawn for a node
// of a cluster. Each node shows only itself, because its page connects to no other host.
import { millis } from '../model/format-number.js';
import type { ClusterState } from '../model/status.js';

export function ClusterPanel({ cluster }: { cluster: ClusterState }) {
  const { node, role, epoch, position, lag_ms, leader, fault: error } = cluster;
  return (
    <section aria-labelledby="cluster">
      <h2 id="cluster">Cluster</h2>
      <div class="card rows-of-cluster">
        <dl class="across">
          <Fact name="this node">
            <b>{node}</b>{' '}
            <span class={`chip ${role === 'leader' || role === 'follower' ? 'good' : 'amber'}`}>
              {role}
            </span>
          </Fact>
          <Fact name="leader">
            {leader === null ? (
              <span class="bad">no leader: writes wait or fail</span>
            ) : (
              <>
                <b>{leader.node}</b> <span class="mono">{leader.address}</span>
              </>
            )}
          </Fact>
          <Fact name="position">
            <b class="mono">{position}</b> <small>epoch {epoch}</small>
          </Fact>
          <Fact name="lag">
            <b>{lag_ms === 0 ? 'none' : millis(lag_ms)}</b>
          </Fact>
        </dl>
        {error && (
          <p class="note bad">
            {error.code}: {error.error}
          </p>
        )}
      </div>
    </section>
  );
}

function Fact({ name, children }: { name: string; children: unknown }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children as never}</dd>
    </div>
  );
}
