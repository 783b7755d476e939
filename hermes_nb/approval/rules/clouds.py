"""Containers, clusters and clouds."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from hermes_nb.approval import paths
from hermes_nb.approval.rules.table import rule

if TYPE_CHECKING:
    from hermes_nb.approval.shell.commands import Command

_ENGINES = "docker podman nerdctl docker-compose podman-compose buildah crictl ctr lxc incus"


@rule(
    "container-remove",
    "removes containers, images, volumes or caches by force or in bulk",
    programs=_ENGINES,
    dangerous=(
        "docker system prune -af", "docker rm -f web", "docker volume rm data",
        "docker rmi -f $(docker images -q)", "docker stop $(docker ps -q)", "docker compose down -v",
        "docker image prune -a", "docker volume prune", "podman rm -a", "docker-compose down --volumes",
        "docker container prune", "docker ps -aq | xargs docker rm", "docker swarm leave --force",
        "docker stack rm app", "docker builder prune", "docker kill $(docker ps -q)",
        "docker-compose rm -fsv", "lxc delete c1", "docker service rm web", "docker compose down --rmi all",
    ),
    benign=(
        "docker ps", "docker stop mycontainer", "docker run --rm -it python:3.12 bash",
        "docker compose down", "docker build -t x .", "docker rm old", "docker logs web",
        "docker compose up -d", "docker images", "docker kill web", "docker run --rm alpine ls",
        "docker restart web", "docker rmi old:1",
    ),
)  # fmt: skip
def _removes_containers(command: Command) -> bool:
    verbs = command.verbs
    many = any(
        word.glob or any(s.name in ("docker", "podman", "nerdctl", "docker-compose") for s in word.sources)
        for word in command.arguments
    )
    removing = {"rm", "rmi", "remove", "delete"}
    head = verbs[:3]
    if "run" in head or "exec" in head or "build" in head[:1]:
        return False
    if "prune" in head:
        return True
    if "down" in head:
        return command.has("-v", "--volumes", "--rmi")
    if head[:1] == ["volume"] or head[:1] in (
        ["stack"],
        ["service"],
        ["secret"],
        ["context"],
        ["plugin"],
        ["node"],
    ):
        return bool(removing & set(head[1:2]))
    if head[:2] in (["swarm", "leave"], ["system", "reset"], ["machine", "rm"]) or (
        command.name in ("lxc", "incus") and "delete" in head
    ):
        return True
    if removing & set(head):
        position = next(index for index, verb in enumerate(head) if verb in removing)
        return many or command.has("-f", "--force", "-a", "--all", "-v", "--volumes") or len(verbs) - position > 4
    return bool({"stop", "kill", "pause", "restart"} & set(head)) and (many or command.has("-a", "--all"))


def _mounts(command: Command) -> list[str]:
    found = [value.text.split(":", 1)[0] for value in command.values("-v", "--volume")]
    for value in command.values("--mount"):
        match = re.search(r"(?:source|src)=([^,]+)", value.text)
        if match:
            found.append(match[1])
    return found


@rule(
    "container-host-access",
    "gives a container the rights or the files of the host",
    programs="docker podman nerdctl docker-compose kubectl",
    dangerous=(
        "docker run --privileged alpine", "docker run -v /:/host alpine",
        "docker run -v /var/run/docker.sock:/var/run/docker.sock x", "docker run --pid=host x",
        "docker run --cap-add=SYS_ADMIN x", "docker run -v /etc:/etc x",
        "docker run -v ~/.ssh:/root/.ssh x", "docker run --net host --pid host x",
        "docker run --mount type=bind,source=/,target=/h x",
        "docker run --security-opt seccomp=unconfined x", "docker run -v $HOME:/h x",
    ),
    benign=(
        "docker run -v $(pwd):/app node npm test", "docker run -p 80:80 nginx",
        "docker run -v data:/var/lib/x x", "docker run -v ./src:/src x", "docker run --network host nginx",
        "docker run -v \"$PWD\":/w -w /w x",
    ),
)  # fmt: skip
def _gives_host_access(command: Command) -> bool:
    if not ({"run", "create", "exec"} & set(command.verbs[:3])):
        return False
    texts = command.texts
    if "--privileged" in texts or "--privileged=true" in texts:
        return True
    options = " ".join(texts[:40])
    if re.search(
        r"--(?:pid|ipc|userns|uts)[= ]host|--cap-add[= ](?:ALL|all|SYS_\w+|CAP_\w+|NET_ADMIN|DAC_\w+)"
        r"|(?:seccomp|apparmor)[=:]unconfined|--device[= ]/dev/(?:sd|nvme|mem|kvm)",
        options,
    ):
        return True
    for source in _mounts(command):
        path = paths.normalise(source)
        if (
            paths.is_catastrophic_to_lose(path)
            or paths.is_credential(path)
            or paths.is_system_file(path)
            or path.endswith("docker.sock")
            or path in ("/", "~")
        ):
            return True
    return False


@rule(
    "cluster-change",
    "deletes from a cluster, or disturbs it",
    programs=(
        "kubectl oc helm k9s eksctl kops kubeadm argocd flux istioctl k3d kind minikube nomad"
        " docker-machine skaffold helmfile velero rancher"
    ),
    dangerous=(
        "kubectl delete pod web", "kubectl delete -f x.yaml", "helm uninstall app", "kubectl drain node1",
        "kubectl scale deploy web --replicas=0", "kubectl delete ns prod", "kubectl replace --force -f x",
        "kind delete cluster", "eksctl delete cluster x", "kubectl -n prod delete deployment api",
        "kubectl apply -f https://h/x.yaml", "kubeadm reset", "helm delete app", "kubectl cordon n1",
        "kubectl create clusterrolebinding x --clusterrole=cluster-admin --user=y", "minikube delete",
        "kubectl rollout undo deploy/x", "nomad job stop x", "kubectl patch deploy x -p '{}'",
        "kubectl taint nodes n1 k=v:NoExecute",
    ),
    benign=(
        "kubectl get pods", "kubectl describe pod delete-me", "helm list", "kubectl logs web",
        "kubectl apply -f x.yaml", "helm upgrade app ./chart", "kubectl delete pod x --dry-run=client",
        "kubectl rollout status deploy/x", "kubectl scale deploy web --replicas=3", "helm template x",
        "kubectl config get-contexts", "kind create cluster", "minikube start",
    ),
)  # fmt: skip
def _changes_cluster(command: Command) -> bool:
    if any(text.startswith("--dry-run") and text != "--dry-run=none" for text in command.texts):
        return False
    verbs = [verb for verb in command.verbs if not verb.startswith("-")]
    head = verbs[:4]
    if command.name in ("kubectl", "oc"):
        first = next((verb for verb in head if verb in _KUBECTL), "")
        if first in ("delete", "drain", "cordon", "evict", "patch", "taint"):
            return True
        if first == "scale":
            return any(value.text == "0" for value in command.values("--replicas"))
        if first == "replace":
            return command.has("--force")
        if first == "rollout":
            return "undo" in verbs or "restart" in verbs
        if first in ("apply", "create"):
            return (
                any("://" in text for text in command.texts)
                or any("clusterrolebinding" in verb for verb in verbs)
                or command.has("--prune")
            )
        return False
    if command.name == "helm":
        return head[:1] in (["uninstall"], ["delete"], ["del"], ["un"], ["rollback"])
    return any(
        verb in ("delete", "destroy", "reset", "stop", "rm", "remove", "uninstall", "purge", "terminate")
        for verb in head[:2]
    )


_KUBECTL = frozenset(
    [
        "delete",
        "drain",
        "cordon",
        "evict",
        "patch",
        "taint",
        "scale",
        "replace",
        "rollout",
        "apply",
        "create",
        "get",
        "describe",
        "logs",
        "exec",
        "top",
        "config",
        "explain",
        "run",
        "expose",
        "label",
        "annotate",
        "edit",
        "wait",
        "port-forward",
        "cp",
        "auth",
        "api-resources",
        "version",
        "cluster-info",
        "diff",
    ]
)


@rule(
    "infrastructure-change",
    "destroys or changes infrastructure",
    programs=(
        "terraform tofu terragrunt pulumi cdk sam serverless sls vagrant virsh multipass"
        " ansible-playbook ansible packer copilot amplify VBoxManage prlctl qm pct"
    ),
    dangerous=(
        "terraform destroy", "terraform apply -auto-approve", "terraform apply", "pulumi destroy --yes",
        "cdk destroy", "terraform state rm x", "serverless remove", "vagrant destroy -f",
        "virsh undefine vm", "terragrunt destroy-all", "terraform workspace delete x", "tofu destroy",
        "terraform taint x", "sam delete", "pulumi up --yes", "terraform -chdir=x destroy",
        "terraform force-unlock 1", "virsh destroy vm",
    ),
    benign=(
        "terraform plan", "terraform init", "terraform validate", "pulumi preview", "cdk synth",
        "terraform fmt", "vagrant up", "terraform state list", "terraform plan -destroy",
        "terraform output", "ansible-playbook site.yml --check", "virsh list",
    ),
)  # fmt: skip
def _changes_infrastructure(command: Command) -> bool:
    head = command.verbs[:3]
    match command.name:
        case "terraform" | "tofu" | "terragrunt":
            if head[:1] in (["plan"], ["show"]):
                return False
            return any(
                verb
                in (
                    "destroy",
                    "apply",
                    "destroy-all",
                    "apply-all",
                    "taint",
                    "untaint",
                    "force-unlock",
                    "import",
                )
                for verb in head[:2]
            ) or head[:2] in (["state", "rm"], ["state", "push"], ["state", "mv"], ["workspace", "delete"])
        case "ansible" | "ansible-playbook" | "packer":
            return False
    return any(
        re.fullmatch(r"destroy|delete|remove|undefine|unregistervm|purge|up|rm", verb) for verb in head[:2]
    ) and not (command.name == "vagrant" and "up" in head)


_CLOUDS = (
    "aws gcloud az gsutil doctl heroku flyctl fly vercel netlify ibmcloud oci linode-cli hcloud"
    " s3cmd s4cmd mc b2 scw exo wrangler railway render firebase supabase eb ecs-cli azcopy gh glab"
    " cloudctl tccli aliyun aws2 s5cmd civo upctl confluent mongocli atlas neonctl planetscale"
    " pscale databricks snow"
)
_DESTROYING = re.compile(
    r"(?:batch-)?(?:delete|terminate|remove|destroy|purge|deregister|revoke|detach|wipe|reset|reboot"
    r"|stop|deallocate|disable|deactivate|cancel|release|drop|unpublish|erase|cleanup|schedule-key-deletion"
    r"|abort)(?:-[\w-]+|s|:\w+)?\Z"
    r"|[\w-]+:(?:destroy|delete|remove|reset|unset|drop|rm|disable)\Z|rm\Z|rb\Z|del\Z|rmi\Z"
)  # fmt: skip
_GRANTING = re.compile(
    r"(?:attach|put)-(?:user|role|group|bucket|key|resource)?-?polic\w*\Z|create-access-key\Z"
    r"|add-iam-policy-binding\Z|set-iam-policy\Z|add-user-to-group\Z|put-bucket-acl\Z"
    r"|put-object-acl\Z|put-public-access-block\Z"
    r"|authorize-security-group-\w+\Z|create-login-profile\Z|update-assume-role-policy\Z"
    r"|modify-\w+-attribute\Z|modify-db-instance\Z|update-login-profile\Z"
)  # fmt: skip


@rule(
    "cloud-change",
    "deletes, stops or opens up what runs in a cloud",
    programs=_CLOUDS,
    dangerous=(
        "aws s3 rm s3://b --recursive", "aws ec2 terminate-instances --instance-ids i-1",
        "gcloud compute instances delete x", "az group delete -n rg", "gsutil rm -r gs://b",
        "aws s3 rb s3://b --force", "aws rds delete-db-instance --db-instance-identifier x",
        "aws s3 sync . s3://b --delete", "gh repo delete me/x --yes", "doctl compute droplet delete 1",
        "heroku apps:destroy x", "gcloud projects delete p",
        "aws iam attach-user-policy --user-name x --policy-arn y",
        "aws iam create-access-key --user-name x", "gsutil -m rm gs://b/**", "az vm delete -n x -g y",
        "s3cmd del s3://b/x", "firebase firestore:delete --all-collections",
        "aws cloudformation delete-stack --stack-name x", "gsutil rsync -d a gs://b",
        "gcloud sql instances delete x", "mc rb --force m/b", "fly apps destroy x",
        "aws ec2 stop-instances --instance-ids i", "aws s3api delete-bucket --bucket b",
        "heroku pg:reset DATABASE", "gcloud iam service-accounts keys create k.json --iam-account=x",
        "aws lambda delete-function --function-name x",
        "gcloud projects add-iam-policy-binding p --member=m --role=roles/owner",
    ),
    benign=(
        "aws s3 ls", "aws s3 cp a s3://b/", "gcloud compute instances list", "az vm list", "gsutil ls",
        "aws ec2 describe-instances", "gh pr create", "gh pr list", "gh issue view 3", "doctl account get",
        "aws sts get-caller-identity", "gsutil cp a gs://b", "gcloud config list", "vercel dev",
        "aws logs tail x", "gh run list", "aws s3 sync . s3://b", "aws s3 cp delete.txt s3://b/",
        "gh pr checkout 3", "aws ec2 terminate-instances --dry-run --instance-ids i",
    ),
)  # fmt: skip
def _changes_cloud(command: Command) -> bool:
    if command.has("--dry-run", "--dryrun"):
        return False
    verbs = command.verbs
    head = verbs[:5] if command.name in ("gcloud", "az", "oci", "doctl", "ibmcloud") else verbs[:3]
    if command.name == "gh":
        head = verbs[:2]
        if verbs[:1] == ["api"]:
            return any(value.text.upper() in ("DELETE", "PUT") for value in command.values("-X", "--method"))
        return any(verb in ("delete", "archive", "remove", "unset", "transfer") for verb in head[1:]) or verbs[:2] in (
            ["secret", "set"],
            ["repo", "edit"],
            ["ssh-key", "add"],
        )
    if any(_DESTROYING.match(verb) or _GRANTING.match(verb) for verb in head if "/" not in verb and "." not in verb):
        return True
    if "keys" in head and "create" in head and "service-accounts" in head:
        return True
    if command.name == "aws" and verbs[:2] == ["s3", "mv"]:
        return command.has("--recursive")
    texts = command.texts
    return (
        "--delete" in texts
        or (command.name == "gsutil" and "rsync" in verbs and command.has("-d"))
        or any("public-read" in text or "allUsers" in text for text in texts)
        or (command.name == "s5cmd" and "rm" in verbs)
    )


@rule(
    "publish",
    "publishes to the world, or withdraws what others depend on",
    programs=(
        "npm yarn pnpm twine cargo gem poetry uv flit hatch pod mvn gradle dotnet nuget"
        " crates vsce"
    ),
    dangerous=(
        "npm publish", "twine upload dist/*", "cargo publish", "npm unpublish x --force", "gem push x.gem",
        "poetry publish", "cargo yank x", "npm deprecate x y", "npm owner add evil x", "uv publish",
        "npm access public x", "gem yank x",
    ),
    benign=(
        "npm install", "npm run publish-docs", "cargo build", "poetry build", "npm publish --dry-run",
        "cargo publish --dry-run", "twine check dist/*", "npm run build",
    ),
)  # fmt: skip
def _publishes(command: Command) -> bool:
    if command.has("--dry-run"):
        return False
    first = command.verbs[:1]
    return (
        first
        in (
            ["publish"],
            ["unpublish"],
            ["deprecate"],
            ["yank"],
            ["owner"],
            ["access"],
            ["upload"],
            ["push"],
            ["deploy"],
        )
        and (first != ["upload"] or command.name in ("twine",))
        and (first not in (["push"], ["deploy"]) or command.name in ("gem", "pod", "nuget", "mvn", "dotnet"))
    )
