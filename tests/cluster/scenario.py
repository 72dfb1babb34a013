"""Two Ray nodes on this machine; a worker and then a node are lost while a folder is indexed.

A process of its own: Ray looks up this machine's address, which the tests do not let anybody do.
"""

import json
import os
import signal
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
NODE = {"num_cpus": 1, "object_store_memory": 80 * 2**20, "include_dashboard": False}


def actors() -> list[int]:
    """Return the processes of our workers: children of a raylet that is a child of this process."""
    names = (entry.name for entry in Path("/proc").iterdir() if entry.name.isdecimal())
    return sorted(int(pid) for pid in names if _is_worker(pid))


def _is_worker(pid: str) -> bool:
    try:
        line = Path(f"/proc/{pid}/cmdline").read_bytes()
        return line.startswith(b"ray::_Worker") and _parent(_parent(pid)) == str(os.getpid())
    except OSError:
        return False  # it ended while we looked


def _parent(pid: str) -> str:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1]


def index(cluster: Any, folder: Path, path: Path) -> list[Any]:
    """Index a folder while a worker is killed and the second node goes away."""
    from abstrag.model.record import to_data
    from abstrag.workers.ray import RayCluster
    from abstrag.workspace import many_files
    from abstrag.workspace.options import WorkspaceConfig
    from abstrag.workspace.workspace import Workspace

    vars(many_files)["TOGETHER"] = 1  # told one by one, while workers are at work
    second = cluster.add_node(**NODE)
    outcomes = []
    engine = RayCluster(2, cluster.address, window=4)
    with Workspace(WorkspaceConfig(path)) as workspace:
        for outcome in many_files.index_many(workspace, [folder], engine):
            outcomes.append(to_data(outcome))
            if len(outcomes) == 3:
                os.kill(actors()[0], signal.SIGKILL)
            if len(outcomes) == 10:
                cluster.remove_node(second, allow_graceful=False)
    return outcomes


def square(cluster: Any, folder: Path) -> dict[str, str]:
    """Do items of which one always ends its worker, and one the first time."""
    from abstrag.workers.protocol import LostItem
    from abstrag.workers.ray import RayCluster
    from tests.unit.workers.tasks import Squaring

    results = RayCluster(1, cluster.address).run(Squaring(folder), [1, "die", "die once", 3])
    return {str(k): str(v.error) if isinstance(v, LostItem) else str(v) for k, v in results}


def main() -> None:
    """Run both, and print what came of it."""
    ray: Any = import_module("ray")
    clusters: Any = import_module("ray.cluster_utils")
    folder, path = Path(sys.argv[1]), Path(sys.argv[2])
    cluster = clusters.Cluster(initialize_head=True, head_node_args=NODE)
    try:
        outcomes = index(cluster, folder, path)
        squares = square(cluster, path.parent)
    finally:
        ray.shutdown()
        cluster.shutdown()
    told = {"outcomes": outcomes, "squares": squares, "left": actors()}
    sys.stdout.write(json.dumps(told) + "\n")


if __name__ == "__main__":
    main()
