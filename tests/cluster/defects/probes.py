"""What people do under a forced defect, and what they then see: each probe tells it in a sentence, with its figures."""

from __future__ import annotations

from typing import Any, Final

from tests.cluster.client import Object, Refused
from tests.cluster.defects.stage import Comes, Outcome, Stage
from tests.cluster.deploy import KUEUE

PASSING: Final = ("Bypassed scheduling evaluation", "Workload is pending evaluation")
"""What Kueue 0.19 says to jobs that it has not looked at, or that are like one that it has."""
SLICE: Final = "nvidia.com/mig-1g.10gb"
REVIEWS: Final = {"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview", "metadata": {"name": ""}}


def _message(stage: Stage, unit: str) -> str:
    """What Kueue says to the one job of a unit that waits, once it says so."""

    def messages() -> list[str]:
        return [each for each in stage.scene.why(unit) if not each.startswith(PASSING)]

    stage.scene.wait(lambda: len(messages()) == 1, f"one message to {unit}")
    return f"`{messages()[0]}`"


def _held(stage: Stage, unit: str, count: int, resource: str = "") -> None:
    stage.scene.wait(lambda: stage.scene.held(unit, resource) == count, f"{unit} holds {count}")


def _running(stage: Stage, unit: str, count: int) -> None:
    stage.scene.wait(lambda: len(stage.scene.hosts(unit)) == count, f"{count} pods of {unit} run")


def _told(stage: Stage) -> str:
    """What each queue that is not active says, each message once."""
    return " · ".join(f"`{message}`" for message in sorted(set(stage.statuses().values())))


def _may(stage: Stage, user: str, groups: list[str], namespace: str) -> bool:
    """Whether somebody may create jobs in a namespace."""
    asked = {"namespace": namespace, "verb": "create", "group": "batch", "resource": "jobs"}
    spec = {"user": user, "groups": groups, "resourceAttributes": asked}
    client = stage.scene.cluster.client
    path = "/apis/authorization.k8s.io/v1/subjectaccessreviews"
    answer = client.request("POST", path, {**REVIEWS, "metadata": {}, "spec": spec})
    return bool(answer["status"]["allowed"])


# The seeded defects.


def limit_not_lent(stage: Stage) -> Outcome:
    stage.scene.submit("research/vision", 8, times=5)
    _held(stage, "research/vision", 24)
    message = _message(stage, "research/vision")
    held = stage.scene.held("research/vision")
    return Outcome(Comes.WAITS, f"of the 40 GPUs of its limit the team gets {held}; the next job waits: {message}")


def half_a_gpu(stage: Stage) -> Outcome:
    stage.scene.submit("research/speech", 1, times=4)
    _held(stage, "research/speech", 3)
    _message(stage, "research/speech")
    return Outcome(Comes.SILENT, f"{stage.scene.held('research/speech')} jobs of one GPU run on a quota of 2.5")


def absent_profile(stage: Stage) -> Outcome:
    requests = {"nvidia.com/mig-7g.80gb": "1", "cpu": "1", "memory": "1Gi"}
    stage.scene.submit("research/speech", requests=requests)
    return Outcome(Comes.WAITS, f"a job that asks for its quota waits for ever: {_message(stage, 'research/speech')}")


def absent_flavor(stage: Stage) -> Outcome:
    stage.scene.submit("research/speech", 1)
    told = _told(stage)
    return Outcome(Comes.STATUS, f"{told}; every job of the team waits: {_message(stage, 'research/speech')}")


def robotics_works(stage: Stage) -> None:
    from tests.cluster.defects.forced import near
    stage.put(near("missing department file", stage.scene.cluster.kueue))
    stage.scene.submit("robotics/one", 8)
    _running(stage, "robotics/one", 1)


def pruned(stage: Stage) -> Outcome:
    client = stage.scene.cluster.client
    jobs = "/apis/batch/v1/namespaces/robotics-one/jobs"
    stage.scene.wait(lambda: client.list(jobs) == [], "the job is gone")
    stage.scene.asked = 0
    return Outcome(Comes.SILENT, "pruning deletes the team's namespace and the job that runs in it")


def cycle(stage: Stage) -> Outcome:
    stage.scene.wait(lambda: stage.statuses() != {}, "a queue says so")
    stage.scene.submit("product/sound/light/one", 1)
    told = f"{_told(stage)}; a job waits: "
    cluster = stage.scene.cluster
    import copy
    from tests.cluster import manager
    from tests.cluster.defects.forced import near
    cq=copy.deepcopy(next(i for i in stage.scene.made.objects if i["kind"]=="ClusterQueue" and i["metadata"]["name"]=="product-sound-light-one"))
    cq["metadata"]["name"]="product-sound-light-two"
    cluster.client.apply(cq)
    stage.scene.settle()
    print([ (w["metadata"]["name"],w["status"]) for w in stage.scene.workloads()], stage.statuses())
    cluster.client.patch("/api/v1/namespaces/default", {"metadata": {"labels": {"probe": "x"}}})
    stage.scene.wait(lambda: cluster.processes.running["kueue"].poll() is not None, "dead")
    conf = stage.scene.made.configuration
    cluster.processes.stop("kueue")
    manager.configure(cluster, conf)
    cluster.client.delete(cluster.client.path(cq))
    stage.put(near("department cycle through files", cluster.kueue))
    cluster.processes.stop("kueue")
    manager.configure(cluster, conf)
    cluster.client.patch("/api/v1/namespaces/default", {"metadata": {"labels": {"probe": None}}})
    return Outcome(Comes.STATUS, told+f" crashed")


def orphan(stage: Stage) -> Outcome:
    stage.scene.submit("research/light/one", 8, times=2)
    _held(stage, "research/light/one", 8)
    return Outcome(Comes.WAITS, f"the second job: {_message(stage, 'research/light/one')}")


def two_owners(stage: Stage) -> Outcome:
    client = stage.scene.cluster.client
    ns=client.get("/api/v1/namespaces/product-ads")
    lq=client.get(f"{KUEUE}/namespaces/product-ads/localqueues/default")
    return Outcome(Comes.SILENT, f"{ns['metadata']['labels']} {lq['spec']} {stage.refusals}")


def overwritten(stage: Stage) -> Outcome:
    client = stage.scene.cluster.client
    def vs(): return {p: client.get(p)["metadata"]["resourceVersion"] for p in {client.path(i) for i in stage.scene.made.objects}}
    from tests.cluster import deploy
    a=vs()
    for i in deploy.in_waves(stage.scene.made.objects): client.apply(i)
    b=vs()
    return Outcome(Comes.SILENT, f"{[p for p in a if a[p]!=b[p]]} {client.get(KUEUE+'/clusterqueues/research-speech-lab')['spec']['cohortName']}")


def unreachable(stage: Stage) -> Outcome:
    stage.scene.submit("product/ads", 1, flavor="a100-mig", resource=SLICE)
    return Outcome(Comes.WAITS, f"a job of one slice waits for ever: {_message(stage, 'product/ads')}")


def too_few_pods(stage: Stage) -> Outcome:
    stage.scene.submit("research/vision", 1, pods=40)
    _running(stage, "research/vision", 39)
    stage.scene.settle()
    held, pods = stage.scene.held("research/vision"), len(stage.scene.pods("research/vision"))
    wl=stage.scene.workloads("research/vision")[0]["status"]["conditions"]
    return Outcome(Comes.SILENT, f"a job of 40 GPUs is admitted, holds {held} and has {pods} pods {wl}")


def fenced_cpu(stage: Stage) -> Outcome:
    r={"cpu": "1", "memory": "1Gi"}
    stage.scene.submit("research/speech", requests=r)
    m=_message(stage, 'research/speech')
    try:
        stage.scene.submit("product/ads", requests=r, pod={"tolerations": [{"key": "acme.example/cpu", "operator": "Exists"}]})
        stage.scene.settle()
        extra=f"{stage.scene.hosts('product/ads')} {stage.scene.why('product/ads')}"
    except Refused as e: extra=str(e)
    return Outcome(Comes.WAITS, f"{m} ;;; {extra} {stage.scene.hosts('research/speech')}")


def no_memory(stage: Stage) -> Outcome:
    scene=stage.scene
    scene.submit("research/vision", requests={"cpu": "1", "memory": "252Gi"}, pods=10)
    scene.submit("research/vision", requests={"cpu": "1", "memory": "996Gi"}, pods=4)
    _held(stage, "research/vision", 14000, "cpu")
    scene.submit("research/speech", requests={"cpu": "1", "memory": "1Gi"})
    return Outcome(Comes.WAITS, f"{_message(stage, 'research/speech')}")


def granted_to_nobody(stage: Stage) -> Outcome:
    real, misspelt = (_may(stage, f"system:serviceaccount:{home}:ci", [], "research-vision") for home in ("product-search", "product-serch"))
    return Outcome(Comes.SILENT, f"{real} {misspelt}")


def above_capacity(stage: Stage) -> Outcome:
    scene=stage.scene
    scene.submit("research/vision", 8, times=3)
    scene.submit("research/speech", 8, pods=8)
    scene.submit("research/speech", 1)
    scene.submit("product/search", 8, pods=3)
    _held(stage,"product/search",24)
    scene.submit("product/ads", 1, pods=7)
    _held(stage,"product/ads",7)
    scene.submit("product/ads", 1)
    m=_message(stage,"product/ads")
    scene.settle()
    return Outcome(Comes.WAITS, f"{scene.holders()} {m} {scene.why('product/ads')} {scene.evictions()}")


def no_such_node(stage: Stage) -> Outcome:
    stage.scene.submit("research/vision", 1)
    return Outcome(Comes.WAITS, f"{_message(stage, 'research/vision')} {stage.scene.why('research/vision')}")


def two_names(stage: Stage) -> Outcome:
    s=stage.scene
    s.submit("research/vision", 8)
    s.submit("research/speech", 8, flavor="a100-mig", resource=SLICE)
    s.settle()
    return Outcome(Comes.HARMLESS, f"{s.holders()} {s.hosts('research/vision')} {s.hosts('research/speech')} {s.why('research/vision')}")


def above_layout(stage: Stage) -> Outcome:
    s=stage.scene
    s.submit("research/vision", 8, pods=8, flavor="a100-mig", resource=SLICE)
    _held(stage, "research/vision", 64)
    s.submit("research/speech", 1, flavor="a100-mig", resource=SLICE)
    return Outcome(Comes.WAITS, f"{_message(stage, 'research/speech')}")


def above_department(stage: Stage) -> Outcome:
    s=stage.scene
    s.submit("research/vision", 8, times=3)
    s.submit("research/speech", 8, times=8)
    s.settle()
    s.submit("product/search", 8, pods=3)
    s.submit("product/ads", 1, times=9)
    s.settle()
    return Outcome(Comes.SILENT, f"{s.holders()} {s.evictions()} {s.why('product/ads')}")


def spelled(stage: Stage) -> Outcome:
    client=stage.scene.cluster.client
    item=next(i for i in stage.scene.made.objects if i["metadata"]["name"]=="research-spelling")
    p=client.path(item)
    def look():
        g=client.get(p); return g["metadata"]["generation"], [r["nominalQuota"] for r in g["spec"]["resourceGroups"][0]["flavors"][0]["resources"][:2]]
    a=look(); client.apply(item); b=look(); client.apply(item); c=look()
    return Outcome(Comes.SILENT, f"{a} {b} {c}")


# Further

def no_host_name(stage: Stage) -> Outcome:
    client=stage.scene.cluster.client
    for n in (0,1): client.patch(f"/api/v1/nodes/h100-{n}", {"metadata":{"labels":{"acme.example/rack":"r"}}})
    s=stage.scene
    s.submit("research/vision", 4, pods=2)
    _running(stage,"research/vision",2)
    h=s.hosts("research/vision")
    s.submit("research/speech", 8)
    s.settle()
    out=f"{h} {s.holders()} {s.hosts('research/speech')} {s.why('research/speech')}"
    for n in (0,1): client.patch(f"/api/v1/nodes/h100-{n}", {"metadata":{"labels":{"acme.example/rack":None}}})
    return Outcome(Comes.SILENT,out)


def priority(name):
    def probe(stage):
        s=stage.scene
        try: s.submit("research/vision",1,priority=name)
        except Refused as e: return Outcome(Comes.SILENT,str(e))
        s.settle()
        return Outcome(Comes.HARMLESS,f"{s.holders()} {[w['spec'].get('priority') for w in s.workloads()]}")
    return probe


def unmanaged(namespace, labels):
    def probe(stage):
        c=stage.scene.cluster.client
        job={"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"probe","namespace":namespace,"labels":labels},"spec":{"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"main","image":"none","resources":{"requests":{"cpu":"1","memory":"1Gi"}}}]}}}}
        c.create(job)
        from tests.cluster.plane import until
        import time; time.sleep(3)
        pods=[p for p in c.list(f"/api/v1/namespaces/{namespace}/pods") if p["metadata"]["name"].startswith("probe")]
        out=f"pods={[(p['status'].get('phase'),p['spec'].get('nodeName')) for p in pods]} wl={len(c.list(KUEUE+'/namespaces/'+namespace+'/workloads'))} suspend={c.get('/apis/batch/v1/namespaces/'+namespace+'/jobs/probe')['spec'].get('suspend')} {stage.statuses()}"
        c.delete(f"/apis/batch/v1/namespaces/{namespace}/jobs/probe", propagationPolicy="Background")
        return Outcome(Comes.SILENT,out)
    return probe


def counted(stage):
    import time; time.sleep(2)
    q=stage.scene.cluster.client.get("/api/v1/namespaces/research-vision/resourcequotas/tenancy")["status"]
    return Outcome(Comes.SILENT,f"{ {k:v for k,v in q['used'].items() if 'count/job' in k}} { {k:v for k,v in q['hard'].items() if 'count/job' in k}}")


def gpu_quota(stage):
    s=stage.scene
    s.submit("research/vision",8,pods=2); _held(stage,"research/vision",16); s.settle()
    return Outcome(Comes.SILENT,f"{s.held('research/vision')} pods={len(s.pods('research/vision'))}")


def no_workload(stage):
    import time
    s=stage.scene
    s.submit("research/vision",1); time.sleep(3)
    e=[x["message"] for x in s.cluster.client.list("/api/v1/namespaces/research-vision/events") if x["involvedObject"]["kind"]=="Job" and x["involvedObject"]["name"]==f"job-1" or True][-4:]
    return Outcome(Comes.SILENT,f"wl={len(s.workloads())} pods={len(s.pods())} {e}")


def sar(user, groups):
    return lambda stage: Outcome(Comes.SILENT, f"{_may(stage,user,groups,'research-vision')}")


def uncovered(stage):
    stage.scene.submit("research/vision",1)
    return Outcome(Comes.WAITS,_message(stage,"research/vision"))


def parent_stops(stage):
    s=stage.scene
    s.submit("research/speech",8,times=9); s.settle()
    return Outcome(Comes.WAITS,f"{s.holders()} {s.why('research/speech')}")


def no_domain(stage):
    try: stage.scene.submit("research/vision",requests={"gpu":"1","cpu":"1"})
    except Refused as e: return Outcome(Comes.SILENT,str(e))
    return Outcome(Comes.WAITS,_message(stage,"research/vision"))


def memory_jobs(stage):
    s=stage.scene
    r={"cpu":"1","memory":"1Gi"}
    for u in ("research/speech","research/vision","product/ads"): s.submit(u,requests=r)
    s.settle()
    cq={i["metadata"]["name"]:i["status"].get("flavorsUsage",i["status"].get("flavorsReservation"))[0]["resources"][:2] for i in s.cluster.client.list(KUEUE+"/clusterqueues")}
    return Outcome(Comes.HARMLESS,f"{s.holders('cpu')} {[s.why(u) for u in ('research/speech','research/vision','product/ads')]} {cq}")


def speech_waits(stage):
    stage.scene.submit("research/speech",1)
    return Outcome(Comes.WAITS,_message(stage,"research/speech"))


def privileged(stage):
    pod={"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","namespace":"research-vision"},"spec":{"containers":[{"name":"m","image":"none","securityContext":{"privileged":True}}]}}
    try: stage.scene.cluster.client.create(pod,dry_run=True); return Outcome(Comes.SILENT,"accepted")
    except Refused as e: return Outcome(Comes.HARMLESS,str(e))


def twin(stage):
    s=stage.scene
    s.submit("research/vision",8,pods=3); s.submit("research/speech",8,times=12)
    s.settle()
    return Outcome(Comes.SILENT,f"{s.holders()} running={len(s.hosts('research/vision'))+len(s.hosts('research/speech'))} pods={len(s.pods())} {s.why('research/speech')}")
